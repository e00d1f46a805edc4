/** Where the engine tells what no caller can be told. pino's loggers fit. */
export interface Log {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Keeps nothing. */
export const silentLog: Log = { warn() {}, error() {} };
