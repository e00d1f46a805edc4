import type { RunEvent } from "../core/runs/run.ts";

/** How much is kept; the oldest is dropped. */
const most = { items: 1000, characters: 200_000 };

/** What a run has shown since its last event, for those who begin to follow it late. */
export class Shown {
  #after: number;
  #items: { readonly event: RunEvent; readonly characters: number }[] = [];
  #characters = 0;

  constructor(lastEvent: number) {
    this.#after = lastEvent;
  }

  /** The number of the run's last event. */
  get after(): number {
    return this.#after;
  }

  get events(): readonly RunEvent[] {
    return this.#items.map(({ event }) => event);
  }

  /** The event with this number is there, which says in full what was shown before it. */
  committed(seq: number): void {
    if (seq <= this.#after) return;
    this.#after = seq;
    this.#items = [];
    this.#characters = 0;
  }

  add(event: RunEvent): void {
    const characters = Object.values(event).reduce<number>((sum, value) => sum + textLength(value), 0);
    this.#items.push({ event, characters });
    this.#characters += characters;
    while (this.#items.length > most.items || this.#characters > most.characters)
      this.#characters -= this.#items.shift()?.characters ?? 0;
  }
}

function textLength(value: unknown): number {
  return typeof value === "string" ? value.length : 0;
}
