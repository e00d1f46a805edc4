import type { ComponentChildren } from "preact";
import { Banner } from "../../parts/banner.tsx";
import { Empty } from "../../parts/empty.tsx";
import { words } from "../../words/words.ts";
import type { Loaded } from "./use-loaded.ts";

/**
 * Shows `children` once something is loaded; otherwise why not, also to those who may not see it.
 */
export function OperatorOnly({
  of,
  children,
}: {
  of: Pick<Loaded<unknown>, "value" | "error" | "isRefused">;
  children: ComponentChildren;
}) {
  const text = words().system;
  if (of.isRefused) return <Empty title={text.operatorOnly}>{text.operatorOnlyMore}</Empty>;
  if (of.error !== undefined) return <Banner tone="fail">{of.error.message}</Banner>;
  if (of.value === undefined)
    return (
      <p class="sr" role="status">
        {words().loading}
      </p>
    );
  return <>{children}</>;
}
