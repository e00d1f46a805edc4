import { inputRequired } from "@modelcontextprotocol/server";
import { AppError } from "manyhands/internal/core/errors";
import type { Prompts } from "../../../shared/src/mcp/server/prompts.ts";
import type { Resources } from "../../../shared/src/mcp/server/resources.ts";
import { image, resource, suiteChanges, text } from "./suite-content.ts";
import { one } from "./suite-schemas.ts";

const uris = ["test://static-text", "test://static-binary", "test://watched-resource"];
const templateUri = "test://template/{id}/data";

const read: Resources["read"] = async (uri) => {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id !== undefined) return [{ uri, mimeType: "application/json", text: JSON.stringify({ id }) }];
  if (!uris.includes(uri)) return undefined;
  if (uri.endsWith("binary")) return [{ uri, mimeType: image.mimeType, blob: image.data }];
  return [{ uri, mimeType: "text/plain", text: "This is the content of the resource." }];
};

/** The resources that the suite reads by name. */
export const suiteResources: Resources = {
  list: async () => ({ resources: uris.map((uri) => ({ uri, name: uri, description: "A resource of the suite." })) }),
  templates: () => [{ uriTemplate: templateUri, name: "template" }],
  read,
  complete: async () => [],
  async watch(uri) {
    return (await read(uri, "")) && (async function* () {})();
  },
};

type Got = ReturnType<Prompts["get"]>;
type Message = Extract<Got, { messages: unknown }>["messages"][number];
const user = (content: Message["content"]): Message => ({ role: "user", content });

const prompts: Readonly<
  Record<string, { args: readonly string[]; get: (...given: Parameters<Prompts["get"]>) => Got }>
> = {
  test_simple_prompt: { args: [], get: () => ({ messages: [user(text("This is a simple prompt for testing."))] }) },
  test_prompt_with_arguments: {
    args: ["arg1", "arg2"],
    get: (_, { arg1, arg2 }) => ({ messages: [user(text(`arg1='${arg1}', arg2='${arg2}'`))] }),
  },
  test_prompt_with_embedded_resource: {
    args: ["resourceUri"],
    get: (_, { resourceUri = "" }) => ({
      messages: [user(resource(resourceUri, "text/plain", "Embedded.")), user(text("Process it."))],
    }),
  },
  test_prompt_with_image: { args: [], get: () => ({ messages: [user(image), user(text("Analyze it."))] }) },
  test_input_required_result_prompt: {
    args: [],
    get(_, __, { responses }) {
      if (responses.user_context !== undefined)
        return { messages: [user(text(JSON.stringify(responses.user_context)))] };
      const asked = inputRequired.elicit({ message: "Which context?", requestedSchema: one("context") });
      return inputRequired({ inputRequests: { user_context: asked } });
    },
  },
};

function promptOf(name: string) {
  const prompt = prompts[name];
  if (prompt === undefined) throw new AppError("not_found", `There is no prompt ${name}.`);
  return prompt;
}

/** The prompts that the suite gets by name. */
export const suitePrompts: Prompts = {
  list: () =>
    Object.entries(prompts).map(([name, { args }]) => ({
      name,
      description: `A prompt of the suite, as of change ${suiteChanges.prompts}.`,
      arguments: args.map((arg) => ({ name: arg, required: true })),
    })),
  get: (name, args, given) => promptOf(name).get(name, args, given),
  complete(name, argument, typed) {
    promptOf(name);
    return [`${typed} of ${argument}`];
  },
};
