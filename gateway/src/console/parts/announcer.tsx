import { signal } from "@preact/signals";

const said = signal<{ readonly text: string; readonly turn: number }>({ text: "", turn: 0 });

/**
 * Says something to people who hear the page, once, when they pause. For what they would miss: a
 * question, an end, a failure, a message; never for what is still being written.
 */
export function announce(text: string): void {
  said.value = { text, turn: said.value.turn + 1 };
}

/** Where it is said: once, in the shell. The same words again are said again. */
export function Announcer() {
  const { text, turn } = said.value;
  return (
    <p class="sr" aria-live="polite" data-announcer>
      {turn % 2 === 0 ? <span>{text}</span> : <b>{text}</b>}
    </p>
  );
}
