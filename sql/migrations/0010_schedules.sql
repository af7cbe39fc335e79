-- Messages that are sent at the times of a cron pattern. See docs/decisions/0043.

-- One row per schedule of the plan that leads. next_at is moved in the transaction that sends. Null: never again.
create table wh_schedules (
  name text collate "C" primary key,
  cron text not null,
  time_zone text not null,
  catch_up text not null,
  next_at timestamptz,
  last_at timestamptz
);

-- A plan is all schedules that an instance has, as one value. Of the plans of instances that are alive, the one that
-- was seen last for the first time leads.
create table wh_schedule_plans (
  plan text collate "C" primary key,
  first_seen_at timestamptz not null default clock_timestamp()
);

alter table wh_service_instances add column schedule_plan text collate "C";
