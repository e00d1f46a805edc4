import { signal } from "@preact/signals";
import { UnreachableError } from "../api/client.ts";
import { safeText } from "../words/format.ts";
import { words } from "../words/words.ts";
import { Button } from "./button.tsx";

type Toast = { readonly id: number; readonly text: string; readonly bad: boolean; readonly undo?: () => void };

const shownMs = 6_000;
const badMs = 12_000;

/**
 * The dialogs that are open, the topmost last: while there is one, nothing outside of it is bright,
 * can be pressed or is read aloud.
 */
export const openDialogs = signal<readonly string[]>([]);

const toasts = signal<readonly Toast[]>([]);
const last = { id: 0 };

/** Says what the person's last act did, for a moment, with a way back if there is one. */
export function toast(text: string, undo?: () => void): void {
  show({ text: safeText(text), bad: false, ...(undo && { undo }) }, shownMs);
}

/** Says that an act of the person failed, and why. */
export function complain(error: unknown): void {
  const said = error instanceof Error ? error.message : String(error);
  show({ text: error instanceof UnreachableError ? words().unreachable : safeText(said), bad: true }, badMs);
}

function show(said: Omit<Toast, "id">, milliseconds: number): void {
  last.id += 1;
  const { id } = last;
  toasts.value = [...toasts.value, { id, ...said }];
  setTimeout(() => drop(id), milliseconds);
}

function drop(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** Where toasts appear: in the topmost dialog, or else in the shell. */
export function Toasts({ dialog }: { readonly dialog?: string }) {
  if (openDialogs.value.at(-1) !== dialog) return null;
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text, bad, undo }) => (
        <div key={id} class={bad ? "toast bad" : "toast"} {...(bad && { role: "alert" })}>
          <span class="grow">{text}</span>
          {undo && (
            <Button
              look="ghost"
              onClick={() => {
                drop(id);
                undo();
              }}
            >
              {words().undo}
            </Button>
          )}
        </div>
      ))}
    </div>
  );
}
