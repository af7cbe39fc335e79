-- Whether a call has handed out nothing of a lane, put some of it in order, and left more of that to be done. Touches no table.
create or replace function wh_only_tidied(p_leased uuid[], p_claimed wh_claimed, p_arrived wh_arrived, p_admitted wh_arrival[])
returns boolean
language sql immutable parallel safe
as $$
  select p_leased = '{}' and (coalesce((p_claimed).is_cut, false) or (p_arrived).is_crowd and coalesce(p_admitted <> '{}', false))
$$;
