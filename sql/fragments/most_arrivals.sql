-- How many unadmitted messages a call reads. With more instances more messages are under way, and most belong to the
-- others. If there are as many, it is a crowd.
-- Included by: wh_arrivals_{lane}, wh_meets_crowd_{lane}
v_limit * least(c.{lane}_instances, 5)
