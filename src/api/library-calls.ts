import type { OperationId, operations } from './operations.generated.ts';
import type { Operations } from './types.generated.ts';

/** What one call is made of: its operation, and the path, query, body or form that it takes. */
export type CallOf<O extends OperationId> = { readonly operation: O } & Needed<O, 'path'> &
  Given<O, 'query'> &
  Needed<O, 'body'> &
  Needed<O, 'form'>;

/** A list call; which page is nothing to say where pages are followed. */
export type ListCallOf<O extends ListId> = Omit<CallOf<O>, 'query'> & Asked<O>;

/** What a call gives. Null where the specification shows no answer: then it may also be anything else. */
export type AnswerOf<O extends OperationId> = Operations[O] extends { answer: infer A }
  ? (typeof operations)[O]['answer'] extends 'any'
    ? A | null
    : A
  : null;

/** Operations that answer a list. */
export type ListId = {
  [O in OperationId]: (typeof operations)[O]['answer'] extends 'data-list' ? O : never;
}[OperationId];

/** One item of a list. */
export type ItemOf<O extends ListId> = Operations[O] extends { answer: { data: (infer I)[] } }
  ? I
  : never;

type PartOf<O extends OperationId, Part extends string> =
  Operations[O] extends Readonly<Record<Part, infer V>> ? V : never;

/** A part that must be given where the operation has it. */
type Needed<O extends OperationId, Part extends string> = [PartOf<O, Part>] extends [never]
  ? { readonly [P in Part]?: never }
  : { readonly [P in Part]: PartOf<O, Part> };

/** A part that may be left out where nothing in it is required. */
type Given<O extends OperationId, Part extends string> = [PartOf<O, Part>] extends [never]
  ? { readonly [P in Part]?: never }
  : OptionalIfEmpty<Part, PartOf<O, Part>>;

type OptionalIfEmpty<Part extends string, V> = object extends V
  ? { readonly [P in Part]?: V }
  : { readonly [P in Part]: V };

type Asked<O extends ListId> = (typeof operations)[O]['paginated'] extends true
  ? [PartOf<O, 'query'>] extends [never]
    ? { readonly query?: never }
    : OptionalIfEmpty<'query', Omit<PartOf<O, 'query'>, 'page' | 'limit'>>
  : Given<O, 'query'>;
