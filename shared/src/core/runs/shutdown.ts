const message = "This process is shutting down; the run continues elsewhere.";

/** The reason of signals that end because this process shuts down, while the run goes on later. */
export function shutdown(): DOMException {
  return new DOMException(message, "AbortError");
}

/** Whether a signal ended with `shutdown`, so that nobody has canceled or paused anything. */
export function isShutdown(reason: unknown): boolean {
  return reason instanceof DOMException && reason.message === message;
}
