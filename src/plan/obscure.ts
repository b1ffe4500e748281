import { type Address, kindOf } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import type { Obscurity } from './identify.ts';

export function obscure(obscurities: readonly Obscurity[]): CallsheetError {
  const isSeveral = obscurities.some(({ type }) => type === 'several');
  return new CallsheetError('config', obscurities.map(tellObscurity).join('\n'), {
    hint: isSeveral
      ? 'Say which one is meant with `callsheet import <address> <id>` or `lifecycle: { adopt: <id> }`, or rename the others.'
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
