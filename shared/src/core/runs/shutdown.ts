class Shutdown extends DOMException {
  constructor() {
    super("This process is shutting down; the run continues elsewhere.", "AbortError");
  }
}

/** The reason of signals that end because this process shuts down, while the run goes on later. */
export function shutdown(): DOMException {
  return new Shutdown();
}

/** Whether a signal ended with `shutdown`, so that nobody has canceled or paused anything. */
export function isShutdown(reason: unknown): boolean {
  return reason instanceof Shutdown;
}
