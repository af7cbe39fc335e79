-- The streams share the room in turns. One that waited at a limit gives its first message only.
-- Included by: wh_claim_{lane}, wh_would_look_{lane}
not l.waits and l.message_id is not null and (l.place = 1 or l.stream_id <> all(v_due.limited))
      and row_number() over (order by l.waits, l.place, l.turn) <= p_room as is_taken
