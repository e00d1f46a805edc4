import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Unavailable } from "../parts/not-found.tsx";
import { words } from "../words/words.ts";

/**
 * A page whose code is loaded when it is first shown, so that the first page comes sooner. `load`
 * imports the module and picks the page.
 */
export function lazyPage<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const held: { page?: ComponentType<Props> } = {};
  return function LazyPage(props: Props) {
    const [state, setState] = useState<"loading" | "there" | "failed">(held.page === undefined ? "loading" : "there");
    const get = () => {
      if (held.page !== undefined) return;
      setState("loading");
      load().then(
        (page) => {
          held.page = page;
          setState("there");
        },
        () => setState("failed"),
      );
    };
    useEffect(get, []);
    if (held.page !== undefined) {
      const Page = held.page;
      return <Page {...props} />;
    }
    return state === "failed" ? (
      <Unavailable retry={get} />
    ) : (
      <p class="sr" role="status">
        {words().loading}
      </p>
    );
  };
}
