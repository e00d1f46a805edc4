import { computed, signal } from "@preact/signals";
import type { RunView } from "manyhands/internal/runs/run-view";
import {
  getAgents,
  getFlows,
  getHealth,
  getRuns,
  type Health,
  type ListedAgent,
  type ListedFlow,
} from "../api/catalog.ts";
import { type Change, listenToChanges } from "../api/changes.ts";
import { get } from "../api/client.ts";

const recentCount = 5;
const waitingCount = 50;
/** Milliseconds after which lists that could not be read are asked for again. */
const againMs = 2_000;

/** What the gateway says about itself. */
export const health = signal<Health | undefined>(undefined);
/** The registered flows. */
export const flows = signal<readonly ListedFlow[]>([]);
/** The known agents and their health. */
export const agents = signal<readonly ListedAgent[]>([]);
/** The newest runs. */
export const recent = signal<readonly RunView[] | undefined>(undefined);
/** The runs that wait for the person, the oldest first. */
export const waiting = signal<readonly RunView[]>([]);
/** Whether the gateway answers. */
export const connected = signal(true);
/** Who is signed in, where people sign in. */
export const person = signal<string | undefined>(undefined);
/** What changed last: lists that are shown read themselves again when it does. */
export const lastChange = signal<Change>({ runs: [] });
/** The agents that can work. */
export const agentsUp = computed(() => agents.value.filter(({ health: state }) => state === "up"));
/** Whether the model only rehearses: it plays recorded answers. */
export const rehearses = computed(() => health.value?.model.provider === "rehearsal");

/** Where people sign in, if they do. */
export const signInPath = document.body.dataset.signIn;

const waitingStates = ["input-required", "auth-required", "paused"] as const;

/** Whether a run in this state waits for the person. */
export function waitsForPerson(status: RunView["status"]): boolean {
  return waitingStates.some((one) => one === status);
}

/** Asks for the runs now. */
export async function refreshRuns(): Promise<void> {
  try {
    const [newest, asking] = await Promise.all([
      getRuns({ limit: recentCount, count: 0 }),
      getRuns({ status: waitingStates.join(","), limit: waitingCount }),
    ]);
    setIfChanged(recent, newest.runs);
    setIfChanged(
      waiting,
      asking.runs.toSorted((a, b) => a.updatedAt.localeCompare(b.updatedAt)),
    );
    connected.value = true;
  } catch {
    connected.value = false;
  }
}

/** Asks for the agents now. */
export async function refreshAgents(): Promise<void> {
  setIfChanged(agents, await getAgents());
}

/** Lists that did not change stay the same object, so that nothing is drawn again. */
function setIfChanged<Value>(held: { value: Value }, value: Value): void {
  if (JSON.stringify(held.value) !== JSON.stringify(value)) held.value = value;
}

/**
 * Loads what every page needs and keeps it up to date: nothing is asked for while nothing changes.
 */
export function startStore(report: (error: unknown) => void): void {
  void getHealth().then((about) => {
    health.value = about;
  }, report);
  void getFlows().then((list) => {
    flows.value = list;
  }, report);
  if (signInPath !== undefined)
    void get<{ principal?: string }>("/auth/session").then(({ principal }) => {
      person.value = principal;
    }, report);
  void refreshAgents().catch(() => undefined);
  // The first request asks for the token, if there has to be one.
  void refreshRuns().then(listen);
}

function listen(): void {
  const runs = oneAtATime(refreshRuns);
  const known = oneAtATime(() => refreshAgents().catch(() => undefined));
  listenToChanges((notice) => {
    if ("connected" in notice) {
      connected.value = notice.connected;
      return;
    }
    const { change } = notice;
    if (concernsLists(change)) runs();
    if (change.all || change.agents) known();
    lastChange.value = change;
  });
}

/** Whether the newest runs, or those that wait, are others now. */
function concernsLists({ runs, all, more }: Change): boolean {
  if (all || more) return true;
  const shown = new Map([...(recent.value ?? []), ...waiting.value].map((run) => [run.id, run.status]));
  return runs.some(({ id, status }) => shown.get(id) !== status || waitsForPerson(status));
}

/**
 * Does the work when asked, once more if it was asked meanwhile, and again if it did not connect.
 */
function oneAtATime(work: () => Promise<void>): () => void {
  let state: "idle" | "busy" | "again" = "idle";
  return async function ask() {
    if (state !== "idle") {
      state = "again";
      return;
    }
    do {
      state = "busy";
      await work();
      if (connected.value) continue;
      await new Promise((resolve) => setTimeout(resolve, againMs));
      state = "again";
    } while ((state as string) === "again");
    state = "idle";
  };
}
