import type { ComponentChildren } from "preact";

/** Names and values under a title, and what follows them. */
export function Facts({
  title,
  rows,
  children,
}: {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
  readonly children?: ComponentChildren;
}) {
  return (
    <section class="facts">
      <h3>{title}</h3>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {children}
    </section>
  );
}
