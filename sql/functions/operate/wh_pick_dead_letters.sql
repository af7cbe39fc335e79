-- Returns the numbers of the next dead letters of a message, of a stream or of a type, from the oldest on, behind
-- p_after. Within a stream that is their order. p_locks: they are locked, without those that somebody else has locked.
-- If that is a whole page, it goes on behind it: none are left exactly when it returns none.
-- Locks: rows of wh_dead_letters, skip locked.
-- Reads by: wh_dead_letters_message, wh_dead_letters_stream, wh_dead_letters_type.
-- Raises: WB001 unless it is said which.
-- Called by: wh_discard_dead_letters, wh_retry_dead_letters
create or replace function wh_pick_dead_letters(
  p_message_id uuid, p_stream_id uuid, p_type text, p_after bigint, p_limit int, p_locks boolean
)
returns bigint[]
language plpgsql
as $$
declare
  v_page bigint[];
  v_numbers bigint[];
begin
  if num_nonnulls(p_message_id, p_stream_id, p_type) = 0 then
    perform wh_refuse('p_message_id', 'is null, and so are p_stream_id and p_type: say which dead letters');
  end if;
  loop
    if p_message_id is not null then
      v_page := array(select d.dead_letter_id from wh_dead_letters d where d.message_id = p_message_id and d.dead_letter_id > p_after
        order by d.dead_letter_id limit p_limit);
    elsif p_stream_id is not null then
      v_page := array(select d.dead_letter_id from wh_dead_letters d where d.stream_id = p_stream_id and d.dead_letter_id > p_after
        order by d.dead_letter_id limit p_limit);
    else
      v_page := array(select d.dead_letter_id from wh_dead_letters d where d.event_type = p_type and d.dead_letter_id > p_after
        order by d.dead_letter_id limit p_limit);
    end if;
    v_numbers := v_page;
    if p_locks then
      v_numbers := array(select d.dead_letter_id from wh_dead_letters d where d.dead_letter_id = any(v_page)
        order by d.dead_letter_id for update skip locked);
    end if;
    v_numbers := array(
      select d.dead_letter_id from wh_dead_letters d
      where d.dead_letter_id = any(v_numbers)
        and (p_stream_id is null or d.stream_id = p_stream_id) and (p_type is null or d.event_type = p_type)
      order by d.dead_letter_id);
    exit when v_numbers <> '{}' or v_page = '{}';
    p_after := v_page[cardinality(v_page)];
  end loop;
  return v_numbers;
end
$$;
