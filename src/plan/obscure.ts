import { type Address, kindOf } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import type { Obscurity } from './identify.ts';

export function obscure(
  obscurities: readonly Obscurity[],
  purpose: PlanDocument['purpose'],
): CallsheetError {
  const isSeveral = obscurities.some(({ type }) => type === 'several');
  return new CallsheetError('config', obscurities.map(tellObscurity).join('\n'), {
    hint: isSeveral
      ? purpose === 'restore'
        ? 'Name the state of the restoration that made them with --state, rename those that are too many in the dashboard, or restore the other organizations with --organization.'
        : 'Say which one is meant with `callsheet import <address> <id>` or `lifecycle: { adopt: <id> }`, or rename the others.'
      : 'Correct the id in lifecycle.adopt, or take it out to make a new resource.',
  });
}

function tellObscurity(obscurity: Obscurity): string {
  const { address } = obscurity;
  if (obscurity.type === 'several') {
    const { ids } = obscurity;
    return `${address}: ${ids.length} live resources have its name: ${ids.join(', ')}`;
  }
  const { id, holder } = obscurity;
  return holder === undefined
    ? `${address}: lifecycle.adopt names ${id}, and the platform has no such ${kindNoun(address)}`
    : `${address}: lifecycle.adopt names ${id}, which ${holder} stands for`;
}

function kindNoun(address: Address): string {
  return kindOf(address).replaceAll('_', ' ');
}
