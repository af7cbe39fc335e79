-- Where the bookmarks of a build stand, in numbers that can be compared: the lowest, the highest. is_swept: one of them
-- still has streams to sweep.
create type wh_place as (low_tick bigint, low_upto bigint, high_tick bigint, high_upto bigint, is_swept boolean);
