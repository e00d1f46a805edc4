import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { closeAll, openTogether } from "../core/async/close-all.ts";
import type { LivePages, LiveScreen } from "../core/live-page.ts";
import type { KeptTexts } from "../core/text/kept-text.ts";
import type { Tool } from "../core/tools/tool.ts";
import type { BrowserHost, Browsers } from "../machine/browser/browser.ts";
import { sharedPages } from "../machine/browser/live/shared-pages.ts";
import { watchedPages } from "../machine/browser/live/watched-pages.ts";
import type { ProfileSettings } from "../machine/browser-profile/profile-store.ts";
import { createLoopbacks } from "../machine/confinement/loopbacks.ts";
import { createEgress, type PolicedEgress } from "../machine/egress/egress.ts";
import { leavesLoopback, loopbackNames } from "../machine/egress/own-loopback.ts";
import { createHolds } from "../machine/live/holds.ts";
import { createLivePages } from "../machine/live/live-pages.ts";
import type { Sandbox } from "../machine/sandbox/sandbox.ts";
import { createSecrets, type Secrets } from "../machine/secrets/secrets.ts";
import { keptFile } from "../machine/workspace/own-files/kept-file.ts";
import type { BrowserSearch } from "../tools/browser/act/web-search.ts";
import { browserTools } from "../tools/browser/browser-tools.ts";
import { extractContent } from "../tools/browser/extract/extract-content.ts";
import { hidingSecrets, lookWithSecrets } from "../tools/browser/secrets/hide-secrets.ts";
import { lookingInTurn, takingTurns } from "../tools/browser/take-turns.ts";
import { createGitHosts } from "../tools/code/git-host.ts";
import { createDatabases } from "../tools/data/database/databases.ts";
import { createDatabaseServers } from "../tools/data/servers/database-servers.ts";
import type { Observe } from "../tools/family.ts";
import { createSnapshotStates } from "../tools/observation/elements/snapshot-state.ts";
import { observe } from "../tools/observation/observe.ts";
import { createRobots } from "../tools/page/robots.ts";
import { createPythonInterpreters, pythonExecute } from "../tools/python/python-execute.ts";
import { createGuard } from "../tools/risk/guard.ts";
import { bashTool, createShellSessions } from "../tools/shell/bash-tool.ts";
import { type ReachText, tellingReach } from "../tools/shell/telling-reach.ts";
import { openEngines } from "../tools/web/search/open-engines.ts";
import { searchAll } from "../tools/web/search/search-all.ts";
import { webFetch } from "../tools/web/web-fetch.ts";
import { webSearch } from "../tools/web/web-search.ts";
import { type BrowserParts, openBrowser } from "./machine/open-browser.ts";
import { openDesktop } from "./machine/open-desktop.ts";
import type { Machine } from "./machine/open-machine.ts";
import type { MachineParts, OpenedBrowsing } from "./open-agent.ts";
import { openProfiles } from "./storage/open-profiles.ts";

/** The longest time limit that a model may set for a call. */
const longestTimeoutSeconds = 600;

const recollectMs = 5_000;

/** What this machine has for its agents. */
export type Toolbox = Omit<MachineParts, "delegate"> & {
  /** What is configured but missing here, one sentence each. */
  readonly notes: readonly string[];
  /**
   * The open pages and desktops, for people; undefined where there is no browser, or no desktop.
   */
  readonly live: Readonly<Record<LiveScreen, LivePages | undefined>>;
  /** Ends every session and process. */
  close(): Promise<void>;
};

/** Where browser profiles are kept, and whether a task of a conversation has not ended. */
type ToolboxParts = Pick<BrowserParts, "isAtWork"> & { readonly profiles?: KeptTexts | undefined };

/**
 * Makes the tools that run commands on this machine, read the web and browse it. The sandbox stays
 * the caller's to close.
 */
export async function openToolbox(
  config: Pick<
    Config,
    "home" | "sandbox" | "search" | "egress" | "desktop" | "browser" | "databases" | "git" | "secrets"
  >,
  machine: Machine,
  { profiles, isAtWork }: ToolboxParts = {},
): Promise<Toolbox> {
  const { sandbox } = machine;
  const { timeoutMs, allowDomains } = config.sandbox;
  const egress = openEgress(config);
  const secrets =
    config.secrets.length === 0
      ? undefined
      : createSecrets(config.secrets, keptFile(join(config.home, "typed-secrets")));
  const loopbacks = createLoopbacks(sandbox);
  const profile = profileOf(config.browser, profiles);
  const opening = {
    unread: secrets?.recollect(AbortSignal.timeout(recollectMs)) ?? Promise.resolve([]),
    browser: openBrowser(config, { secretIn: secrets?.heldIn, profile, loopback: loopbacks?.dial, isAtWork }),
    python: machine.python.found,
    desktop: openDesktop(config.desktop, sandbox),
  };
  const { unread, browser, python, desktop } = await openTogether(opening, {
    browser: ({ browsers }) => browsers?.close(),
    desktop: (opened) => opened.close(),
  });
  const { browsers, missing } = browser;
  const web = openWeb(config, egress, browsers);
  // What goes to the conversation's own sandbox goes nowhere.
  const own = loopbacks !== undefined && leavesLoopback(config.egress) ? loopbackNames : [];
  const parts = { search: web.search, secrets };
  const { browsing, guarded, live } = openBrowsing(browsers, missing, parts, config.browser, own);
  const notes = [...unread.map(unhidden), ...(desktop.note === undefined ? [] : [desktop.note])];
  const databases = createDatabases();
  const servers = createDatabaseServers(config.databases);
  const gitHosts = createGitHosts(config.git);
  const always = {
    sandbox,
    web: web.tools,
    browsing,
    guarded,
    egress,
    databases,
    servers,
    gitHosts,
    printer: browsers,
    notes,
    live: { browser: live, desktop: desktop.live },
  };
  const workers = [() => databases.close(), () => browsers?.close()];
  if (sandbox.tier === "none") return { ...always, shell: [], desktop: [], close: () => closeAll(workers) };
  const shells = createShellSessions(sandbox, loopbacks && { loopbacks });
  const interpreters = createPythonInterpreters(sandbox);
  const timeout = timeoutMs === undefined ? {} : { timeoutSeconds: Math.min(timeoutMs / 1000, longestTimeoutSeconds) };
  return {
    ...always,
    shell: [
      bashTool({ sessions: shells, ...timeout }),
      ...(python === undefined
        ? []
        : [pythonExecute({ sandbox, interpreters, libraries: python.libraries, ...timeout })]),
    ].map((tool) => tellingReach(tool, reachOf(sandbox.tier, allowDomains))),
    desktop: desktop.tools,
    close: () => closeAll([shells.close, interpreters.close, () => desktop.close(), ...workers]),
  };
}

/** What commands can reach, told so that every agent with them knows. */
function reachOf(tier: Sandbox["tier"], domains: readonly string[]): ReachText {
  if (tier === "off") {
    const told = "What it runs is not confined: it reaches the network as this machine does.";
    return { told, whenMissed: told };
  }
  if (tier !== "srt" || domains.length === 0) {
    const whenMissed = "Commands reach no network: nothing can be installed.";
    return { told: "It reaches no network.", whenMissed };
  }
  const told = `On the network what it runs reaches only ${domains.join(", ")}.`;
  return { told, whenMissed: told };
}

function profileOf({ profile }: Config["browser"], texts: KeptTexts | undefined): ProfileSettings | undefined {
  if (profile === undefined || texts === undefined) return undefined;
  return { name: profile, store: openProfiles(texts) };
}

type BrowsingParts = { readonly search: BrowserSearch | undefined; readonly secrets: Secrets | undefined };

/** The browser's tools, and the guard for every tool that reaches outside or acts on its pages. */
function openBrowsing(
  browsers: Browsers | undefined,
  missing: string | undefined,
  { search, secrets }: BrowsingParts,
  { scope, trusted_hosts, max_content_length }: Config["browser"],
  own: readonly string[],
): { readonly browsing: OpenedBrowsing; readonly live: LivePages | undefined; guarded(tool: Tool): Tool } {
  const looks = createSnapshotStates();
  const guard = createGuard({ browsers, looks, scope, trusted: [...trusted_hosts, ...own] });
  if (browsers === undefined)
    return {
      browsing: { tools: [], look: undefined, missing: missing ?? "There is no browser." },
      guarded: (tool) => guard.over(tool),
      live: undefined,
    };
  const holds = createHolds(sharedPages(browsers, guard.personTyped));
  const tools = [
    ...browserTools({ browsers, looks, search, secrets }),
    extractContent({ browsers, pieceCharacters: max_content_length }),
  ];
  const look: Observe = async (workspace, { signal, vision, since, isFirst }) => {
    const browsing = browsers.peek(workspace);
    if (browsing === undefined) return isFirst ? undefined : { text: "No page is open in the browser." };
    await guard.beforeObservation(workspace);
    if (secrets === undefined) return observe(browsing, { looks, vision, since, signal });
    return lookWithSecrets(browsing, { looks, vision, since, signal }, { secrets, workspace });
  };
  const hiding = (tool: Tool) => (secrets === undefined ? tool : hidingSecrets(tool, secrets));
  return {
    browsing: { tools, look: lookingInTurn(look, holds), missing: undefined },
    guarded: (tool) => hiding(takingTurns(guard.over(tool), holds)),
    live: createLivePages(watchedPages(browsers, holds), holds),
  };
}

/** What the log says of a secret that could not be read. */
function unhidden(why: string): string {
  return `${why} Should a page show it, a model would read it.`;
}

/** Egress as configured; undefined if the web is switched off. */
function openEgress({ search, egress: settings }: Pick<Config, "search" | "egress">): PolicedEgress | undefined {
  const { proxy, ...policy } = settings;
  return search.enabled ? createEgress(policy, { proxy }) : undefined;
}

/** Reading the web without a browser. */
export type OpenedWeb = {
  /** `web_search` and `web_fetch`. */
  readonly tools: readonly Tool[];
  /** How a browser finds pages. */
  readonly search: BrowserSearch | undefined;
};

const found = 5;

/** The web tools as configured; none without egress. `browser` renders pages that scripts build. */
function openWeb(
  { search, egress: settings }: Pick<Config, "search" | "egress">,
  egress: PolicedEgress | undefined,
  browser?: BrowserHost,
): OpenedWeb {
  if (egress === undefined) return { tools: [], search: undefined };
  const page = { egress, robots: createRobots(egress), browser };
  const { lang, country } = search;
  const engines = openEngines(search, settings);
  return {
    tools: [webSearch({ ...page, engines, lang, country }), webFetch(page)],
    search: async (query, signal) => (await searchAll(engines, { query, count: found, lang, country }, signal)).found,
  };
}
