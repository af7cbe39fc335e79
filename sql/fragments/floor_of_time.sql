-- Where searches by time begin. If the clock has gone back, it is behind the floors; then they do not count.
-- Included by: wh_open_call, wh_poll_of
case when l.next_from > v_now then '-infinity' else l.free_from end as free_from,
      case when l.next_from > v_now then '-infinity' else l.leased_from end as leased_from
