-- Until when, or for which handler or limit, a stream waits: what its first message does.
-- Included by: wh_claim_{lane}, wh_would_look_{lane}
(array_agg(l.until order by l.sequence_order))[1] as until,
      (array_agg(l.handler order by l.sequence_order))[1] as handler
