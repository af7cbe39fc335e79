-- Until when the message `m` has to wait: for its append to the event store, or for its time. Null: it need not.
-- Included by: wh_claim_{lane}, wh_would_look_{lane}
case when {is_unappended} and m.message_id <> all(coalesce(p_appended, '{}'))
               then c.now + interval '100 milliseconds'
             when m.scheduled_for > c.now then m.scheduled_for
        end
