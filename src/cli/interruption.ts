/** Is aborted at the first SIGINT or SIGTERM. A second one ends the process at once, as it would without this. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  const end = () => {
    process.off('SIGINT', end);
    process.off('SIGTERM', end);
    controller.abort();
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  return controller.signal;
}
