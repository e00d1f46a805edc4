import type { Log } from "../../core/runs/engine.ts";

/** A request to begin a life of a run. */
export type Drive = {
  readonly service: string;
  readonly runId: string;
  readonly delayMs?: number;
  /** While a drive with this key has not ended, another one is not begun. */
  readonly onceAs?: string;
};

const answeredWithinMs = 2_000;

/**
 * Restate's ingress: several addresses of one cluster, of which the one that answered last is asked
 * first.
 */
export class Ingress {
  readonly #log: Log;
  #urls: readonly string[];
  #isDown = false;

  constructor(urls: readonly string[], log: Log) {
    this.#urls = urls;
    this.#log = log;
  }

  /** Asks for a drive; false if no ingress took it. */
  async send({ service, runId, delayMs = 0, onceAs }: Drive): Promise<boolean> {
    const path = `/${service}/${encodeURIComponent(runId)}/drive/send${delayMs > 0 ? `?delay=${delayMs}ms` : ""}`;
    const headers: Record<string, string> = onceAs === undefined ? {} : { "idempotency-key": onceAs };
    for (const url of this.#urls) {
      const status = await post(url + path, headers);
      if (status === undefined || status >= 500) continue;
      if (url !== this.#urls[0]) this.#urls = [url, ...this.#urls.filter((other) => other !== url)];
      this.#say(false);
      return status < 400;
    }
    this.#say(true);
    return false;
  }

  #say(isDown: boolean): void {
    if (isDown === this.#isDown) return;
    this.#isDown = isDown;
    if (isDown)
      this.#log.error({ ingress: this.#urls }, "Restate cannot be reached: runs are accepted, and wait for it.");
    else this.#log.warn({}, "Restate can be reached again.");
  }
}

async function post(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  try {
    const response = await fetch(url, { method: "POST", headers, signal: AbortSignal.timeout(answeredWithinMs) });
    await response.body?.cancel();
    return response.status;
  } catch {
    return undefined;
  }
}
