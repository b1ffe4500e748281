import type { CommonFlags, Context } from '../../console/context.ts';
import { isChosen } from '../../core/address.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { invert } from '../../core/value.ts';
import { checkChosen } from '../../kinds/index.ts';
import { buildGraph, renderMermaid } from '../../render/graph.ts';
import { formatNumber } from '../../render/wording.ts';
import { planOptions } from '../../run/plan.ts';
import { openStack } from '../../run/stack.ts';

type GraphFlags = CommonFlags & {
  readonly target?: readonly string[];
  readonly exclude?: readonly string[];
  readonly rows?: boolean;
};

/** Mermaid draws no more edges than these by default; so do the pages that use it. */
const MERMAID_EDGES = 500;

/** `callsheet explain graph`: what refers to what in the stack, without a network. */
export async function graph(flags: GraphFlags, context: Context): Promise<ExitCode> {
  const { stack } = await openStack(flags, context, 'skip');
  const options = planOptions(flags);
  checkChosen(
    options,
    stack.resources.map(({ address }) => address),
  );
  const found = buildGraph({
    resources: stack.resources,
    organizations: invert(stack.organizations),
    isChosen: (address) => isChosen(address, options),
    eachRow: flags.rows === true,
  });
  const { terminal } = context;
  terminal.out(renderMermaid(found));
  if (found.edges.length > MERMAID_EDGES) {
    terminal.err(
      `It has ${formatNumber(found.edges.length)} references, and Mermaid draws at most ${MERMAID_EDGES}: narrow it with --target.`,
    );
  }
  return EXIT.done;
}
