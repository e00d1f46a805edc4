import type { ChatAnswer, ChatRequest } from "../chat/chat-protocol.ts";
import { type AnswerDelivery, type ChatServer, startChatServer } from "../chat/chat-server.ts";
import { examples } from "./examples/examples.ts";
import { monthEnd } from "./month-end/month-end.ts";
import { ordersReport } from "./orders/orders-report.ts";
import { nextTurn, sceneOf } from "./play.ts";
import { rehearsalModelName } from "./rehearsal-config.ts";
import { finish, type Scene, type Script, type ScriptedTurn } from "./script.ts";

const scripts: readonly Script[] = [ordersReport, ...monthEnd, ...examples];

/**
 * Starts the rehearsal model: a chat completions server on loopback that plays scripts for the demo
 * tasks over the real results of real tools, states that it is not a language model, and refuses
 * everything else. It keeps nothing between requests. The caller closes it.
 */
export function startRehearsalModel(
  options: {
    readonly port?: number;
    /** Milliseconds between words, so that people can watch. */
    readonly pace?: number;
  } = {},
): Promise<ChatServer> {
  const { port = 0, pace = 6 } = options;
  return startChatServer({
    port,
    models: [rehearsalModelName],
    answer: ({ body }) => ({ ...answer(body), deltaDelayMs: pace }),
  });
}

function answer(body: ChatRequest): ChatAnswer & AnswerDelivery {
  if (body.model !== rehearsalModelName) {
    return {
      status: 404,
      error: { message: `The model ${body.model} does not exist here, only ${rehearsalModelName} does` },
    };
  }
  const turn = nextTurn(body, scripts) ?? refusal(sceneOf(body), scripts);
  const earlier = body.messages.reduce((sum, message) => sum + (message.tool_calls?.length ?? 0), 0);
  const calls = turn.calls.map((call, index) => ({ ...call, id: `rehearsal_${earlier + index + 1}` }));
  return turn.isRefused === true ? { refusal: turn.say, calls } : { text: turn.say, calls };
}

/**
 * The rehearsal model's answer to everything it has no script for, with how to get a real model.
 */
function refusal(scene: Pick<Scene, "tools">, scripts: readonly Script[]): ScriptedTurn {
  const known = scripts.flatMap(({ title }) => title ?? []);
  const text = [
    "I am the rehearsal model: scripts played on this machine, not a language model. I cannot do this task.",
    "To configure a real model, do one of these:",
    "1. Set OPENAI_API_KEY and MANYHANDS_MODEL in the environment, and OPENAI_BASE_URL for a provider other than OpenAI.",
    "2. Write an [llm] section with model, base_url and api_key into manyhands.toml.",
    "3. Run a local server such as Ollama, and set OPENAI_BASE_URL (http://127.0.0.1:11434/v1) and MANYHANDS_MODEL to one of its models.",
    `I know only: ${known.map((title) => `"${title}"`).join(", ")}.`,
  ].join("\n");
  const end = finish(scene, "failure", text, "I am the rehearsal model, and I have no script for this task.");
  return { ...end, isRefused: end.calls.length === 0 };
}
