-- Finds the bad scalar parameter and refuses the call for it. It runs only when there is one.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: wh_check_limits
create or replace function wh_refuse_limits(p_limits jsonb, p_max_partitions int)
returns void
language plpgsql
as $$
declare
  v_field text;
  v_value text;
begin
  for v_field, v_value in select l.key, l.value from jsonb_each_text(p_limits) l order by l.key loop
    if v_value is null then
      perform wh_refuse(v_field, 'is null, a value is needed');
    elsif v_value = '' and v_field = 'p_service_name' then
      perform wh_refuse(v_field, 'is empty');
    elsif v_field in ('p_partition_count', 'p_lease_seconds', 'p_stale_threshold_seconds') and v_value::int < 1 then
      perform wh_refuse(v_field, format('is %s, it must be at least 1', v_value));
    elsif v_field in ('p_flags', 'p_max_outbox_items', 'p_max_inbox_items', 'p_max_perspective_items',
        'p_spare_outbox_streams', 'p_spare_inbox_streams') and v_value::int < 0
       or v_field = 'p_takeover_seconds' and (v_value::numeric < 0 or v_value = 'NaN') then
      perform wh_refuse(v_field, format('is %s, it must not be negative', v_value));
    end if;
  end loop;
  perform wh_refuse('p_max_partitions_per_instance', format('is %s, it must be at least 1, or null for no cap', p_max_partitions));
end
$$;
