/** How long ago, or how far ahead, in few words: for people. */
export const since = (time: Date, at: Date) => (time > at ? until(time, at) : ago(time, at));
export const ago = (time: Date, at: Date) => `${span(at.getTime() - time.getTime())} ago`;
export const until = (time: Date, at: Date) =>
  time > at ? `in ${span(time.getTime() - at.getTime())}` : ago(time, at);

function span(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}
