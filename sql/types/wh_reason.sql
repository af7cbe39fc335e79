-- Why a message is not running, or why it is about to: one row of explain.
create type wh_reason as (
  code text,
  is_blocking boolean,
  text text,
  since timestamptz,
  until timestamptz,
  facts jsonb,
  remedy text
);
