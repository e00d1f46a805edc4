import { type Signal, signal } from "@preact/signals";

/** What a person is about to send: it survives navigation, and its text a reload. */
export type Draft = {
  readonly text: Signal<string>;
  readonly files: Signal<readonly File[]>;
  /** Takes out what was sent; what was written while it was on its way stays. */
  sent(text: string, files: readonly File[]): void;
};

const drafts = new Map<string, Draft>();
const keyOf = (name: string) => `manyhands-draft-${name}`;

/** The draft of a conversation, or of a new task. */
export function draftOf(name: string): Draft {
  const known = drafts.get(name);
  if (known !== undefined) return known;
  const text = signal(localStorage.getItem(keyOf(name)) ?? "");
  const files = signal<readonly File[]>([]);
  text.subscribe((value) => {
    if (value === "") localStorage.removeItem(keyOf(name));
    else localStorage.setItem(keyOf(name), value);
  });
  const draft: Draft = {
    text,
    files,
    sent(said, given) {
      if (text.value.startsWith(said)) text.value = text.value.slice(said.length).trimStart();
      files.value = files.value.filter((file) => !given.includes(file));
    },
  };
  drafts.set(name, draft);
  return draft;
}
