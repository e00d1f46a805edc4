import { inputRequired } from "@modelcontextprotocol/server";
import { AppError } from "manyhands/internal/core/errors";
import { noUsage } from "manyhands/internal/core/usage";
import type { DirectOutcome, DirectTools } from "../../../shared/src/mcp/server/direct-tools.ts";
import { invalidParams } from "../../../shared/src/mcp/server/invalid-params.ts";
import type { GivenAnswers } from "../../../shared/src/mcp/server/questions.ts";
import { audio, image, resource, suiteChanges, text } from "./suite-content.ts";
import { choices, confirmation, defaults, type Form, one, wide } from "./suite-schemas.ts";

type Calling = Parameters<DirectTools["call"]>[2];
type Input = Readonly<Record<string, unknown>>;
type Work = (call: Calling, given: GivenAnswers, input: Input) => Promise<DirectOutcome> | DirectOutcome;

const says = (...content: Extract<DirectOutcome, { result: unknown }>["result"]["content"]): DirectOutcome => ({
  result: { content },
});
const heard = ({ responses }: GivenAnswers) => says(text(`Heard: ${JSON.stringify(responses)}`));

const elicits = (message: string, requestedSchema: Form) => inputRequired.elicit({ message, requestedSchema });
const samples = (words: string) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: text(words) }], maxTokens: 100 });

/** Asks this first, until everything is answered. */
const after =
  (asks: (input: Input) => Extract<DirectOutcome, { asks: unknown }>["asks"], state = "asked"): Work =>
  (_, given, input) => {
    if (given.state !== undefined && given.state !== state) throw invalidParams("The requestState is not ours.");
    const wanted = asks(input);
    const complete = Object.keys(wanted).every((key) => isAnswer(given.responses[key]));
    return complete ? heard(given) : { asks: wanted, state };
  };

/**
 * Whether a response answers its request: a form's response states its outcome, and an accepted one
 * has content; any other response is an answer.
 */
function isAnswer(response: unknown): boolean {
  if (typeof response !== "object" || response === null) return false;
  return "action" in response ? response.action !== "accept" || "content" in response : true;
}

const rounds: Work = (_, given) => {
  if (given.state === undefined) return { asks: { step1: elicits("What is your name?", one("name")) }, state: "1" };
  if (given.state === "1") return { asks: { step2: elicits("Which color?", one("color")) }, state: "2" };
  return heard(given);
};

const work: Readonly<Record<string, Work>> = {
  test_simple_text: () => says(text("This is a simple text response for testing.")),
  test_image_content: () => says(image),
  test_audio_content: () => says(audio),
  test_embedded_resource: () =>
    says(resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
  test_multiple_content_types: () =>
    says(
      text("Multiple content types test:"),
      image,
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
  test_error_handling: () => {
    throw new AppError("task_failed", "This tool intentionally returns an error for testing");
  },
  async test_tool_with_progress({ progress }) {
    for (const part of [0, 50, 100]) {
      progress(`Completed step ${part} of 100`);
      await Bun.sleep(20);
    }
    return says(text("done"));
  },
  async test_tool_with_logging({ progress }) {
    for (const part of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      progress(part);
      await Bun.sleep(20);
    }
    return says(text("done"));
  },
  json_schema_2020_12_tool: () => says(text("called")),
  test_streaming_elicitation({ progress }) {
    progress("half of it");
    return says(text("Streaming complete"));
  },
  test_logging_tool: () => says(text("Logging evaluated")),
  async test_reconnection() {
    await Bun.sleep(100);
    return says(text("done"));
  },
  test_trigger_tool_change() {
    suiteChanges.tools++;
    return says(text("changed"));
  },
  test_trigger_prompt_change() {
    suiteChanges.prompts++;
    return says(text("changed"));
  },
  test_headers: (_, __, input) => says(text(JSON.stringify(input))),
  test_sampling: after(({ prompt }) => ({ answer: samples(String(prompt)) })),
  test_elicitation: after(({ message }) => ({ answer: elicits(String(message), one("response")) })),
  test_elicitation_sep1034_defaults: after(() => ({ form: elicits("Look through the form.", defaults) })),
  test_elicitation_sep1330_enums: after(() => ({ form: elicits("Choose.", choices) })),
  test_missing_capability: after(() => ({ answer: samples("Anything?") })),
  test_input_required_result_elicitation: after(() => ({ user_name: elicits("What is your name?", one("name")) })),
  test_input_required_result_sampling: after(() => ({ capital: samples("What is the capital of France?") })),
  test_input_required_result_list_roots: after(() => ({ client_roots: inputRequired.listRoots() })),
  test_input_required_result_request_state: after(() => ({ confirm: elicits("Confirm.", confirmation) })),
  test_input_required_result_tampered_state: after(() => ({ confirm: elicits("Confirm.", confirmation) })),
  test_input_required_result_multiple_inputs: after(() => ({
    user_name: elicits("What is your name?", one("name")),
    greeting: samples("Generate a greeting"),
    client_roots: inputRequired.listRoots(),
  })),
  test_input_required_result_multi_round: rounds,
  test_input_required_result_capabilities: (call, given, input) =>
    after(() => ({
      ...(call.client.elicitation && { name: elicits("What is your name?", one("name")) }),
      ...(call.client.sampling && { capital: samples("What is the capital of France?") }),
    }))(call, given, input),
};

const schemas: Readonly<Record<string, ReturnType<DirectTools["list"]>[number]["inputSchema"]>> = {
  json_schema_2020_12_tool: wide,
  test_headers: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
    required: ["region"],
  },
};

/** The tools that the suite calls by name. */
export const suiteTools: DirectTools = {
  used: () => noUsage,
  list: () =>
    Object.keys(work).map((name) => ({
      name,
      description: `Does what the suite expects of ${name}, as of change ${suiteChanges.tools}.`,
      inputSchema: schemas[name] ?? { type: "object", properties: {} },
    })),
  has: (name) => Object.hasOwn(work, name),
  async call(name, input, call, given = { responses: {}, state: undefined }) {
    const does = work[name];
    if (does === undefined) throw new Error(`There is no ${name}.`);
    return does(call, given, input as Input);
  },
};
