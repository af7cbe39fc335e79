-- The messages `m` of the stream `s` that a claim looks at: from its first unfinished one.
-- Included by: wh_claim_{lane}, wh_would_look_{lane}
where m.stream_key = s.stream_id and {from_first_unfinished}
      order by m.sequence_order
      limit v_look
