import { useEffect, useState } from "preact/hooks";
import { get } from "../../api/client.ts";
import { useTitle } from "../../attention/tab.ts";
import { Banner } from "../../parts/banner.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { address, place, setQuery } from "../../state/router.ts";
import { words } from "../../words/words.ts";
import { type ApiRoute, type OpenApi, routesOf } from "./document.ts";
import { TryRoute } from "./try-route.tsx";

/** Every route of the API, and a form that tries one. */
export function ApiPage() {
  const text = words();
  useTitle(text.api);
  const [routes, setRoutes] = useState<readonly ApiRoute[]>([]);
  const [error, setError] = useState<string | undefined>(undefined);
  const chosen = routes.find(({ id }) => id === place.value.query.get("route"));
  useEffect(() => {
    get<OpenApi>("/openapi.json").then(
      (document) => setRoutes(routesOf(document)),
      (thrown: Error) => setError(thrown.message),
    );
  }, []);
  return (
    <>
      <header class="head">
        <h1>{text.api}</h1>
        <span class="t3 small only-d">{text.system.apiNote}</span>
        <span class="grow" />
        <a class="btn ghost" href="docs">
          docs
        </a>
        <a class="btn ghost only-d" href="openapi.json">
          openapi.json
        </a>
      </header>
      {error !== undefined && <Banner tone="fail">{error}</Banner>}
      <div class={chosen === undefined ? "api" : "api chosen"}>
        <RouteList routes={routes} chosen={chosen?.id} />
        <div class="scroll">
          {chosen === undefined ? (
            <p class="t3 none">{text.system.pickRoute}</p>
          ) : (
            <>
              <a class="btn ghost only-p" href={address(["api"])}>
                <Icon name="left" small />
                {text.back}
              </a>
              <TryRoute key={chosen.id} route={chosen} />
            </>
          )}
        </div>
      </div>
    </>
  );
}

function RouteList({ routes, chosen }: { routes: readonly ApiRoute[]; chosen: string | undefined }) {
  const text = words().system;
  const [wanted, setWanted] = useState("");
  const shown = routes.filter(({ id, summary }) =>
    `${id} ${summary}`.toLowerCase().includes(wanted.trim().toLowerCase()),
  );
  const tags = [...new Set(shown.map(({ tag }) => tag))];
  return (
    <nav class="routes" aria-label={words().api}>
      <div class="field">
        <Icon name="search" small />
        <input
          aria-label={text.findRoute}
          placeholder={text.findRoute}
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      </div>
      {routes.length > 0 && shown.length === 0 && <p class="t3 small none">{text.noRoute}</p>}
      {tags.map((tag) => (
        <section key={tag} aria-label={tag}>
          <h2 class="small t3">{tag}</h2>
          <ul>
            {shown
              .filter((route) => route.tag === tag)
              .map((route) => (
                <li key={route.id}>
                  <a
                    href={address(["api"], { route: route.id })}
                    onClick={(event) => {
                      event.preventDefault();
                      setQuery({ route: route.id }, true);
                    }}
                    title={route.summary}
                    {...(route.id === chosen && { "aria-current": "page" as const })}
                  >
                    <span class={`verb ${route.method.toLowerCase()}`}>{route.method}</span>
                    <code class="cut">{route.path}</code>
                  </a>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}
