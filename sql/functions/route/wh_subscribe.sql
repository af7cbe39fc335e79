-- Declares, when an instance starts, to which addresses its service listens: exactly these. Returns how many they are.
-- It removes the declarations of instances that are gone, so that the newest start decides. While no instance starts
-- they stay, so a service that is down for a deploy still receives what is sent to it.
-- What was declared before the first start (`whizbang subscribe`) is kept under the id of zeros, until an instance
-- subscribes to the address itself.
-- An instance is gone if it has deregistered, or is not registered a minute after it subscribed: its first call may
-- come after the subscription.
-- Locks: an advisory lock, waiting: one declaration after the other. Then rows of wh_subscriptions.
-- Reads by: all rows of wh_subscriptions; instances by primary key.
-- Raises: WB001
-- Called by: functions.ts
create or replace function wh_subscribe(p_instance_id uuid, p_addresses text[])
returns int
language plpgsql security definer
set search_path from current
as $$
declare
  v_addresses int;
begin
  if p_instance_id is null or p_addresses is null then
    perform wh_refuse(case when p_instance_id is null then 'p_instance_id' else 'p_addresses' end, 'is null, a value is needed');
  end if;
  perform wh_check_names('p_addresses', p_addresses);
  perform pg_advisory_xact_lock(hashtext('wh_subscriptions'), hashtext(current_schema()));
  delete from wh_subscriptions s
  where s.instance_id = p_instance_id and s.address <> all(p_addresses)
     or s.instance_id = {ExpectedInstance} and s.address = any(p_addresses)
     or s.instance_id not in (p_instance_id, {ExpectedInstance})
        and s.subscribed_at < clock_timestamp() - interval '1 minute'
        and not exists (select from wh_service_instances i where i.instance_id = s.instance_id);
  insert into wh_subscriptions as s (address, instance_id)
  select distinct a.address, p_instance_id from unnest(p_addresses) as a(address)
  on conflict (address, instance_id) do update set subscribed_at = clock_timestamp();
  get diagnostics v_addresses = row_count;
  return v_addresses;
end
$$;
