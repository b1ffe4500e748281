import type { Diagnostic } from './diagnostics.ts';
import type { Json } from './value.ts';

/**
 * What kind of end a failure is. `cli/exit.ts` gives each its exit code; nothing else does.
 *
 * | code          | when                                                               |
 * |---------------|--------------------------------------------------------------------|
 * | `usage`       | the command line is wrong                                          |
 * | `config`      | the stack is wrong; `diagnostics` says where                       |
 * | `api`         | the platform refused or answered nonsense                          |
 * | `network`     | no answer                                                          |
 * | `state`       | the state file is damaged or foreign                               |
 * | `refused`     | a guard: protected, threshold, conflict                            |
 * | `stale`       | platform, configuration or state moved since the plan              |
 * | `locked`      | another run holds the state                                        |
 * | `interrupted` | asked to stop                                                      |
 */
export type FailureCode =
  | 'usage'
  | 'config'
  | 'api'
  | 'network'
  | 'state'
  | 'refused'
  | 'stale'
  | 'locked'
  | 'interrupted';

/** A failure that a person can act on. It is shown as its message and hint, never with a stack trace. */
export class CallsheetError extends Error {
  readonly code: FailureCode;
  /** What to do now. */
  readonly hint: string | undefined;
  readonly diagnostics: readonly Diagnostic[];

  constructor(
    code: FailureCode,
    message: string,
    options: {
      readonly hint?: string;
      readonly diagnostics?: readonly Diagnostic[];
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'CallsheetError';
    this.code = code;
    this.hint = options.hint;
    this.diagnostics = options.diagnostics ?? [];
  }
}

/** The platform has already what was to be made (409). `body` says what it is, where the platform tells. */
export class ConflictError extends CallsheetError {
  readonly body: Json | undefined;

  constructor(
    message: string,
    body: Json | undefined,
    options: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super('api', message, options);
    this.name = 'ConflictError';
    this.body = body;
  }
}

/** For an exhaustive `switch`: reaching it is a bug in Callsheet. */
export function unreachable(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
