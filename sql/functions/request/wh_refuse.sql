-- Refuses the call. The error's column field names the bad field.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: deregister_instance, wh_bury_{lane}, wh_check_ids, wh_check_names, wh_check_pause, wh_claim_unique,
--   wh_diff_models, wh_drop_build, wh_find_models, wh_join_service, wh_make_table, wh_open_request, wh_parse_limits,
--   wh_pick_accepted_messages, wh_pick_dead_letters, wh_read_events, wh_rebuild_perspective, wh_refuse_items,
--   wh_refuse_limits, wh_retry_held, wh_send, wh_set_timers, wh_skip_held, wh_subscribe, wh_take_streams, wh_want_build
create or replace function wh_refuse(p_field text, p_problem text)
returns void
language plpgsql
as $$
begin
  raise exception using
    errcode = 'WB001',
    message = format('%s %s', p_field, p_problem),
    column = p_field,
    hint = 'Nothing was changed. Correct the field and send the call again.';
end
$$;
