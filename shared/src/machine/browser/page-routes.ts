import type { BrowserContext, Page } from "playwright";

/** Where requests can be looked at before they are made. */
export type Routes = {
  route(...args: RouteArgs): Promise<unknown>;
  routeWebSocket(...args: SocketArgs): Promise<unknown>;
};

type RouteArgs = Parameters<BrowserContext["route"]>;
type SocketArgs = Parameters<BrowserContext["routeWebSocket"]>;

/**
 * The requests of some pages of a context only: what the context's other pages do is not even seen.
 * The first request of a page that another one opened is made before the page is known here.
 */
export function createPageRoutes(): Routes & { add(page: Page): Promise<void> } {
  const pages = new Set<Page>();
  const apply: ((page: Page) => Promise<unknown>)[] = [];
  const applyToAll = async (one: (page: Page) => Promise<unknown>) => {
    apply.push(one);
    await Promise.all([...pages].map(one));
  };
  return {
    route: (...args) => applyToAll((page) => page.route(...args)),
    routeWebSocket: (...args) => applyToAll((page) => page.routeWebSocket(...args)),
    async add(page) {
      pages.add(page);
      page.once("close", () => pages.delete(page));
      for (const one of apply) await one(page);
    },
  };
}
