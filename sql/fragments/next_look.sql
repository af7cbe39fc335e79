-- How many streams the next look takes: more, up to a number, because the last one found many to put in order.
-- Included by: wh_claim_all_{lane}, wh_would_claim_{lane}
greatest(p_room, least(2 * v_size, c_most))
