-- Says why a message is not running, or is about to: reasons, the most decisive first, then one row for each living
-- instance, with facts.can_take: whether a call that it made now would take the message. No payload is shown.
-- The conditions are those of the claim (sql/fragments). It is about one moment (facts.at of the first row), and rows
-- that others lock for a moment count as free, except the stream of the message.
-- Locks: none
-- Reads by: as wh_explain_{lane} and wh_explain_absent.
-- Raises: none
-- Called by: explain-functions.ts
create or replace function wh_explain_message(p_message_id uuid)
returns table (step int, code text, is_blocking boolean, text text, since timestamptz, until timestamptz, facts jsonb, remedy text)
language plpgsql stable security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_reasons wh_reason[] := array(select r::wh_reason from wh_explain_inbox(p_message_id, v_now) r);
begin
  if v_reasons = '{}' then
    v_reasons := array(select r::wh_reason from wh_explain_outbox(p_message_id, v_now) r);
  end if;
  if v_reasons = '{}' then
    v_reasons := array(select r::wh_reason from wh_explain_absent(p_message_id, v_now) r);
  end if;
  return query
  select r.place::int, r.code, r.is_blocking, r.text, r.since, r.until, r.facts, r.remedy
  from unnest(v_reasons) with ordinality as r(code, is_blocking, text, since, until, facts, remedy, place)
  order by r.place;
end
$$;
