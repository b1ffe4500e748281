import { type Address, isAddress, kindOf } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import { countFingerprints, withoutFingerprints } from '../../state/fingerprint.ts';
import type { State } from '../../state/model.ts';
import { chooseAddresses } from './choose.ts';
import { type Edit, editLine } from './edit.ts';

/**
 * Gives what the state remembers another address. Of a fleet or a block all of it moves. Fingerprints are
 * bound to the address, so they are left behind: they would make every secret look changed. Throws
 * `CallsheetError('usage')` where that cannot be.
 */
export function moveAddress(from: Address, to: Address, state: State): Edit {
  if (!isAddress(to)) throw cannot(from, to, `${to} is not an address`);
  if (!isAddress(from)) throw cannot(from, to, `${from} is not an address`);
  if (kindOf(from) !== kindOf(to))
    throw cannot(from, to, `what is of kind ${kindOf(from)} cannot become ${kindOf(to)}`);
  if (from === to) throw cannot(from, to, 'that is where it is');
  const chosen = new Set(chooseAddresses(from, state));
  const moved = Object.entries(state.resources)
    .filter(([address]) => chosen.has(address))
    .map(([address, resource]) => {
      const target = `${to}${address.slice(from.length)}`;
      return { address, target, before: resource, resource: withoutFingerprints(resource) };
    });
  const taken = moved.find(({ target }) => state.resources[target] !== undefined);
  if (taken !== undefined) throw cannot(from, to, `the state holds ${taken.target} already`);
  return {
    // The new address first: a resource has one, so that writing it down takes the old one away.
    records: moved.flatMap(({ address, target, resource }) => [
      [target, resource] as const,
      [address, null] as const,
    ]),
    ledger: moved.map(({ address, target, before, resource }) =>
      editLine(target, 'move', resource.id, wordsOf(address, target, countFingerprints(before))),
    ),
  };
}

function wordsOf(address: Address, target: Address, dropped: number): string {
  const was = `it was ${address}`;
  if (dropped === 0) return was;
  const secrets = dropped === 1 ? 'its secret' : `its ${dropped} secrets`;
  return `${was}; whether ${secrets} changed since the last write is not known any more (--resend-secrets ${target} writes what the configuration has)`;
}

function cannot(from: string, to: string, why: string): CallsheetError {
  return new CallsheetError('usage', `${from} cannot be moved to ${to}: ${why}`, {
    hint: 'Nothing was moved. callsheet state list shows what the state holds.',
  });
}
