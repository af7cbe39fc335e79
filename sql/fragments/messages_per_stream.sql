-- How many messages of each stream are looked at: twice an even share, because others may have less, and one more to
-- know of more.
-- Included by: wh_claim_{lane}, wh_would_look_{lane}
least(p_room, 2 * (least(p_room, 1000000) / greatest(cardinality(v_streams), 1)), 1000000) + 1
