/** Asking a language model. */
export type {
  Capabilities,
  Model,
  ModelEvent,
  ModelMessage,
  ModelReply,
  ModelRequest,
  ToolCall,
  ToolSpec,
  Usage,
} from "../core/model.ts";
export { createModel } from "../models/create-model.ts";
