-- The messages `m` of the stream `k`, each with its place, and whether it or one before it has to wait.
-- Included by: wh_claim_{lane}, wh_would_look_{lane}
m.message_id, m.sequence_order, m.until, m.handler,
      row_number() over (partition by k.stream_id order by m.sequence_order) as place,
      bool_or(m.until is not null or m.handler is not null) over (partition by k.stream_id order by m.sequence_order) as waits
