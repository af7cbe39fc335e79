-- All that a call says about one lane, as parsed. reported: the ids that it completes, fails or renews.
create type wh_request as (
  messages wh_new_message[],
  has_events boolean,
  has_scheduled boolean,
  completions wh_completion[],
  failures wh_failure[],
  renewed uuid[],
  reported uuid[],
  has_conditions boolean,
  has_ranked boolean,
  has_late boolean
);
