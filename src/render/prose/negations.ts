/**
 * Words that turn a rule around, or make one of it. Compared in lower case, so that a word which means something
 * else in another language is at worst called out when it changes.
 */
const NEGATIONS: Readonly<Record<string, readonly string[]>> = {
  English: words(
    'not no never none nobody nothing nor neither without unless except cannot always must only avoid refuse forbidden prohibited',
  ),
  German: words(
    'nicht nie niemals kein keine keinen keinem keiner keines nichts niemand ohne ausser außer immer stets nur muss müssen darf dürfen verboten',
  ),
  French: words(
    'ne pas jamais aucun aucune rien personne sans sauf toujours seulement doit devez interdit',
  ),
  Spanish: words(
    'nunca jamás tampoco ningún ninguna ninguno nada nadie sin salvo siempre solo sólo debe',
  ),
  Italian: words(
    'non mai nessun nessuna nessuno niente senza tranne sempre solo soltanto deve vietato',
  ),
  Portuguese: words('não nunca jamais nenhum nenhuma nada ninguém sem exceto sempre somente deve'),
  Dutch: words('niet nooit geen niets niemand zonder behalve altijd alleen moet mag verboden'),
};

const ALL: ReadonlySet<string> = new Set(Object.values(NEGATIONS).flat());

/** Verbs that a following `not` belongs to. */
const AUXILIARY: ReadonlySet<string> = new Set(
  words(
    'do does did must may might can could should would shall will is are was were has have need',
  ),
);

function words(list: string): readonly string[] {
  return list.split(' ');
}

/** Whether a word, without blanks, says that something is not so, or is always so. */
export function isNegation(word: string): boolean {
  const low = word.toLowerCase();
  return ALL.has(low) || /n['’]t$/.test(low);
}

export function isAuxiliary(word: string): boolean {
  return AUXILIARY.has(word.toLowerCase());
}
