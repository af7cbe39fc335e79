-- The number of streams that a caller could begin at once, as it was given. Touches no table. Raises WB001.
create or replace function wh_check_spare(p_field text, p_streams int)
returns int
language plpgsql immutable
as $$
begin
  if p_streams is null then
    perform wh_refuse(p_field, 'is null, a value is needed');
  elsif p_streams < 0 then
    perform wh_refuse(p_field, format('is %s, it must not be negative', p_streams));
  end if;
  return p_streams;
end
$$;
