// Numbers, times and durations for people. Whole numbers that may be large come as text, and stay exact.

/** The views stop counting here. */
const capOfCounts = 10_000;

/** 9 007 199 254 740 993, exactly. */
export function whole(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const digits = typeof value === 'number' ? String(Math.round(value)) : value;
  return digits.replaceAll(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

/** A count of a view that stops at 10 001. */
export const capped = (value: number) => (value > capOfCounts ? `over ${whole(capOfCounts)}` : whole(value));

export const depthOf = (value: string, isExact: boolean) =>
  !isExact && Number(value) > 1_000 ? 'over 1\u202f000' : whole(value);

export function rate(value: number): string {
  if (value === 0) return '0';
  return value < 10 ? value.toFixed(1) : whole(value);
}

export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)}\u00a0s`;
  if (seconds < 120) return `${Math.round(seconds)}\u00a0s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)}\u00a0min`;
  return seconds < 172_800
    ? `${Math.round(seconds / 3_600)}\u00a0h`
    : `${Math.round(seconds / 86_400)}\u00a0days`;
}

/** "3 s ago", or "in 3 s", by the clock of the database. */
export function relative(time: string | number | null | undefined, now: number): string {
  if (time === null || time === undefined) return '–';
  const at = typeof time === 'number' ? time : Date.parse(time);
  return at > now ? `in\u00a0${duration(at - now)}` : `${duration(now - at)}\u00a0ago`;
}

/** Of what has happened: the clocks may differ by a little. */
export const ago = (time: string, now: number) => `${duration(now - Date.parse(time))}\u00a0ago`;

export const shortId = (id: string) => `${id.slice(0, 8)}…${id.slice(-4)}`;
