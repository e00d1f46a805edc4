import type { ComponentChildren } from "preact";

/** Something to know about the whole page: accent to say, wait for the person, fail for a limit. */
export function Banner({
  tone,
  glyph,
  children,
  action,
}: {
  readonly tone: "acc" | "wait" | "fail";
  readonly glyph?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly action?: ComponentChildren;
}) {
  return (
    <div class={`banner ${tone}`} role="status">
      {glyph}
      <span class="grow">{children}</span>
      {action}
    </div>
  );
}
