-- What a look at the unadmitted messages of a lane came to. is_crowd: there are more than a call admits. passed_to: behind the crowd it
-- was looked for what can start, as far as here. has_ranked: some have a
-- priority.
create type wh_arrived as (arrivals wh_arrival[], all_seen boolean, is_crowd boolean, passed_to bigint, has_ranked boolean);
