import type { ComponentChildren } from "preact";

/** An empty place: what would be here, and the next act. */
export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <h2 class="strong">{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}
