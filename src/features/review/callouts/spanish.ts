import type { Language } from './language.ts';

/** Verbs of orders, in the form that a dictionary has. */
const ORDERS =
  'abrir aceptar aclarar actualizar adivinar agendar agradecer ajustar anotar anunciar apuntar asegurar asignar atender avisar ayudar bloquear buscar calcular cambiar cancelar cerrar cobrar colgar comentar comprobar comunicar conectar confirmar consultar contactar contar contestar continuar corregir crear dar decir dejar deletrear derivar desbloquear describir desear despedir desviar devolver dirigir disculpar discutir efectuar elegir eliminar empezar entregar enviar escalar escribir escuchar esperar evitar explicar facilitar finalizar gestionar guardar hablar hacer identificar indicar informar iniciar insistir invitar leer limitar llamar localizar mandar mantener marcar mencionar mostrar negar notificar ofrecer olvidar opinar pagar pasar pausar pedir permitir poner preguntar preparar presentar proceder programar prometer proponer proporcionar recoger recomendar recordar redirigir reenviar registrar rellenar remitir repetir reprogramar reservar resolver responder resumir retener revelar revisar rogar saludar seguir solicitar sugerir suponer tener terminar tomar tramitar transferir tratar usar utilizar validar vender verificar';

/** Orders that no rule makes of it. */
const IRREGULAR: { readonly [form: string]: string } = {
  di: 'decir',
  diga: 'decir',
  digas: 'decir',
  digan: 'decir',
  dice: 'decir',
  dicho: 'decir',
  dile: 'decir',
  diles: 'decir',
  dicen: 'decir',
  da: 'dar',
  de: 'dar',
  des: 'dar',
  den: 'dar',
  doy: 'dar',
  dado: 'dar',
  dan: 'dar',
  dale: 'dar',
  dando: 'dar',
  diciendo: 'decir',
  pidiendo: 'pedir',
  dales: 'dar',
  dele: 'dar',
  deles: 'dar',
  haz: 'hacer',
  haga: 'hacer',
  hagas: 'hacer',
  hace: 'hacer',
  hacen: 'hacer',
  hecho: 'hacer',
  pon: 'poner',
  ponga: 'poner',
  pongas: 'poner',
  puesto: 'poner',
  ten: 'tener',
  tenga: 'tener',
  tengas: 'tener',
  tiene: 'tener',
  tienen: 'tener',
  manten: 'mantener',
  mantenga: 'mantener',
  mantengas: 'mantener',
  ve: 'ir',
  vaya: 'ir',
  vayas: 'ir',
  va: 'ir',
  van: 'ir',
  sal: 'salir',
  salga: 'salir',
  ven: 'venir',
  venga: 'venir',
  sea: 'ser',
  seas: 'ser',
  se: 'ser',
  es: 'ser',
  son: 'ser',
  eres: 'ser',
  saldra: 'salir',
  pondra: 'poner',
  tendra: 'tener',
  vendra: 'venir',
  dira: 'decir',
  hara: 'hacer',
  oye: 'oir',
  oiga: 'oir',
  sepa: 'saber',
  sabe: 'saber',
  proponga: 'proponer',
  propon: 'proponer',
  suponga: 'suponer',
  supon: 'suponer',
  dirija: 'dirigir',
  dirijas: 'dirigir',
  redirija: 'redirigir',
  redirijas: 'redirigir',
  recoja: 'recoger',
  recojas: 'recoger',
  elija: 'elegir',
  elijas: 'elegir',
  elige: 'elegir',
  corrija: 'corregir',
  corrige: 'corregir',
  siga: 'seguir',
  sigas: 'seguir',
  sigue: 'seguir',
  lea: 'leer',
  leas: 'leer',
  lee: 'leer',
  escrito: 'escribir',
  traiga: 'traer',
  traigan: 'traer',
  traigas: 'traer',
  pueda: 'poder',
  puedan: 'poder',
  quiera: 'querer',
  quieran: 'querer',
  quiere: 'querer',
  quieren: 'querer',
  caiga: 'caer',
  oigan: 'oir',
  salgan: 'salir',
  vengan: 'venir',
  tengan: 'tener',
  hagan: 'hacer',
  pongan: 'poner',
  sepan: 'saber',
  acuerdate: 'recordar',
  acuerdese: 'recordar',
  abierto: 'abrir',
  medicacion: 'medicamento',
  vuelto: 'volver',
};

/** `pid` of `pedir` and the like: the vowel of a stem that changes in orders. */
const CHANGED: readonly (readonly [order: RegExp, stem: string])[] = [
  [/^pid/, 'ped'],
  [/^repit/, 'repet'],
  [/^despid/, 'desped'],
  [/^sirv/, 'serv'],
  [/^mid/, 'med'],
  [/^impid/, 'imped'],
  [/^consig/, 'conseg'],
  [/^sugier/, 'suger'],
  [/^sugir/, 'suger'],
];

function stem(word: string): string {
  const bareOrder = word.replace(PRONOUNS, '');
  const order = bareOrder.length < LEAST_ORDER ? undefined : IRREGULAR[bareOrder];
  const known = IRREGULAR[word] ?? order ?? word;
  const bare = known
    .replace(/(?<=(?:[aeo]r|ir|[aei]|ndo))(?:me|te|se|nos|l[aeo]s?)?(?:l[aeo]s?)$/, '')
    .replace(/(?<=.{3})(?:aciones|acion|iciones|icion|mientos?)$/, '')
    .replace(/(?:ciones|cion)$/, 'c')
    .replace(
      /(?<=.{3})(?:[aei]ran?|ando|iendo|ados?|adas?|idos?|idas?|amos|emos|imos|aron|ieron)$/,
      '',
    )
    .replace(/(?<=.{2})(?:ar|er|ir|as|es|os|an|en|a|e|o|s)$/, '');
  const same = bare
    .replace(/zc$/, 'c')
    .replace(/z$/, 'c')
    .replace(/qu$/, 'c')
    .replace(/gu$/, 'g')
    .replace(/ie/, 'e')
    .replace(/ue/, 'o');
  const changed = CHANGED.find(([order]) => order.test(same));
  return changed === undefined ? same : same.replace(changed[0], changed[1]);
}

/** The end of a shorter word is no pronoun: `vale`. */
const LEAST_ORDER = 3;

/** `dígale`, `pregúnteselo`. */
const PRONOUNS = /(?:me|te|se|nos|l[aeo]s?)?(?:l[aeo]s?|me|nos)$/;

/** Orders to one whom one calls tú or usted, and the bare verb, by their stems: none of their nouns are among them. */
function listOrders(): ReadonlySet<string> {
  const forms = ORDERS.split(' ').flatMap((verb) => {
    const root = verb.slice(0, -2);
    const ends = verb.endsWith('ar') ? ['a', 'e', 'es', 'en'] : ['e', 'a', 'as', 'an'];
    return [verb, ...ends.map((end) => changeRoot(root, end, verb) + end)];
  });
  return new Set([...forms, ...Object.keys(IRREGULAR)].filter((form) => !NO_ORDERS.has(form)));
}

/** Statements and other words that look like orders. */
const NO_ORDERS = new Set(
  'de se es son va van eres sal ven den dice dicen tiene tienen hace hacen sabe atiende atienda gestiona gestiones dado dicho hecho abierto vuelto puesto escrito doy dan medicacion'.split(
    ' ',
  ),
);

const ORDERED = listOrders();

function changeRoot(root: string, end: string, verb: string): string {
  const diphthong: { readonly [verb: string]: string } = {
    atender: 'atiend',
    cerrar: 'cierr',
    colgar: 'cuelg',
    comprobar: 'comprueb',
    contar: 'cuent',
    devolver: 'devuelv',
    empezar: 'empiez',
    mostrar: 'muestr',
    negar: 'nieg',
    pedir: 'pid',
    repetir: 'repit',
    despedir: 'despid',
    recomendar: 'recomiend',
    recordar: 'recuerd',
    resolver: 'resuelv',
    rogar: 'rueg',
    sugerir: 'sugier',
    transferir: 'transfier',
  };
  const own = diphthong[verb] ?? root;
  if (verb.endsWith('ar') && end.startsWith('e'))
    return own.replace(/c$/, 'qu').replace(/g$/, 'gu').replace(/z$/, 'c');
  if (!verb.endsWith('ar') && end.startsWith('a'))
    return own.replace(/c$/, 'zc').replace(/g$/, 'j');
  return own;
}

export const spanish: Language = {
  numbers: {
    units: 'uno dos tres cuatro cinco seis siete ocho nueve',
    teens: 'diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve',
    tens: 'veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa',
    zero: 'cero',
    large: 'mil|millón|millones|docenas?',
    others: {
      cero: 0,
      un: 1,
      una: 1,
      veintiuno: 21,
      veintiun: 21,
      veintiuna: 21,
      veintidos: 22,
      veintitres: 23,
      veinticuatro: 24,
      veinticinco: 25,
      veintiseis: 26,
      veintisiete: 27,
      veintiocho: 28,
      veintinueve: 29,
      cien: 100,
      ciento: 100,
      doscientos: 200,
      doscientas: 200,
      trescientos: 300,
      trescientas: 300,
      cuatrocientos: 400,
      quinientos: 500,
      quinientas: 500,
      seiscientos: 600,
      setecientos: 700,
      ochocientos: 800,
      novecientos: 900,
      medio: 0.5,
      cuarto: 0.25,
      media: 0.5,
    },
    factors: { par: 2, docena: 12, docenas: 12, mil: 1000, millon: 1_000_000, millones: 1_000_000 },
    vague: 'un par de',
    joint: ' y ',
    hundreds:
      'media docena|{vague}|(?:cien|ciento|(?:dos|tres|cuatro|quin|seis|sete|ocho|nove)cient[oa]s)(?: {small})?|veinti(?:ún|un[oa]|dós|trés|cuatro|cinco|séis|siete|ocho|nueve)|una docena|{small}',
    thousands: '(?:{hundreds} )?(?:{large})(?: {hundreds})?|{hundreds}',
    half: ' y (?:media|medio|cuarto)',
    unsure: 'un una uno once',
    digit: 'cero uno dos tres cuatro cinco seis siete ocho nueve',
    ordinals:
      'primer[oa]? segund[oa] tercer[oa]? cuart[oa] quint[oa] sext[oa] séptim[oa] octav[oa] noven[oa] décim[oa]',
    ordered:
      'tonos?|intentos?|vez|veces|llamadas?|visitas?|plantas?|pisos?|citas?|avisos?|semanas?|mes|días?|años?|sesión|clases?|falta',
  },
  times: {
    always: '(?:durante )?las (?:24|veinticuatro) horas(?: del día)?|día y noche',
    often: {},
    one: {
      parts: {
        'tres cuartos de': 0.75,
        '(?:un )?cuarto de': 0.25,
        'media|medio': 0.5,
      },
      article: 'un|una',
      behind:
        'en|por|durante|de|dentro de|cada|menos|hasta|duran?|tardan?|unas?|tras|con|máximo|mínimo|que|media|y',
      ahead: 'antes|después|más tarde|de antelación|de anticipación|de retraso',
      andParts: { ' y medi[ao]': 0.5, ' y cuarto': 0.25 },
    },
    clock: String.raw`\s?[ap]\.\s?m\.|\s?[ap]m(?!\p{L})|\s?h(?:rs?)?(?![\p{L}])| de la (?:mañana|tarde|noche|madrugada)| del mediodía`,
    afternoon: 'tarde|noche',
    morning: 'mañana|madrugada',
    night: 'noche|madrugada',
    partOfDay: '(?!)',
    past: {},
    to: {
      ' y cuarto': 15,
      ' y media': 30,
      ' menos cuarto': -15,
      ' menos veinte': -20,
      ' menos diez': -10,
      ' menos cinco': -5,
    },
    named: { mediodía: 720, medianoche: 0 },
    months: [
      'enero',
      'febrero',
      'marzo',
      'abril',
      'mayo',
      'junio',
      'julio',
      'agosto',
      'septiembre|setiembre',
      'octubre',
      'noviembre',
      'diciembre',
    ],
    days: ['lunes', 'martes', 'miércoles', 'jueves', 'viernes', 'sábados?', 'domingos?'],
    shortDays: ['lun', 'mar', 'mié', 'jue', 'vie', 'sáb', 'dom'],
    groups: {
      weekday: 'días (?:laborables|hábiles)|entre semana',
      weekend: 'fin(?:es)? de semana',
      holiday: '(?:días )?festivos|días feriados|feriados',
      christmas: 'navidad(?:es)?|nochebuena',
      easter: 'semana santa',
      year: 'nochevieja|año nuevo',
    },
    parts: {
      daily: [
        'todos los días|cada día|a diario|diariamente',
        'todas las semanas|cada semana|semanalmente',
        'todos los meses|cada mes|mensualmente',
        'todos los años|cada año|anualmente',
      ],
      relative: [
        'el mismo día|mismo día',
        '(?:el|al) día siguiente|día siguiente',
        '(?:el |al )?siguiente día (?:hábil|laborable)',
        'hoy',
        '(?<!la )(?<!de )mañana(?! por la)',
        'esta noche',
        'la misma semana',
        'la próxima semana|la semana que viene',
        '(?:el )?final del día',
      ],
      part: [
        'por la mañana|por las mañanas',
        'por la tarde|por las tardes',
        '(?:por|de) la noche|por las noches',
        'de noche',
      ],
      season: ['verano', 'invierno', 'primavera', 'otoño'],
    },
    dates: ['\\d{1,2}(?:º|°)? de {month}(?: del? \\d{4})?', '{month} de \\d{4}'],
  },
  measures: {
    currencies: {
      usd: 'dólares|dólar',
      eur: 'euros?',
      peso: 'pesos?',
      sol: 'soles',
      cent: 'céntimos?|centavos?',
      '%': 'por ciento',
    },
    units: {
      second: 'segundos?|segs?',
      minute: 'minutos?|mins?',
      hour: 'horas?',
      day: 'días?',
      week: 'semanas?',
      month: 'mes(?:es)?',
      year: 'años?',
      night: 'noches?',
      time: 'vez|veces',
      person: 'personas?|comensales',
      attempt: 'intentos?',
      child: 'niñ[oa]s?',
      kilogram: 'kilos?|kilogramos?',
      gram: 'gramos?',
      kilometer: 'kilómetros?',
      meter: 'metros?',
      liter: 'litros?',
      celsius: 'grados? (?:celsius|centígrados?)',
      degree: 'grados?',
      call: 'llamadas?',
      ring: 'tonos?|timbrazos?',
      visit: 'visitas?',
      word: 'palabras?',
      sentence: 'frases?',
      digit: 'cifras?|dígitos?',
      guest: 'huéspedes|invitados?',
    },
    adjectives: 'primer[oa]s?|próxim[oa]s?|posibles?|últim[oa]s?|nuev[oa]s?|otr[oa]s?|buen[oa]s?',
    noPlural:
      'las|los|les|nos|es|entonces|antes|después|además|menos|más|tres|seis|lunes|martes|miércoles|jueves|viernes|gracias|sus|tus|tras|unos|unas',
    per: 'al?|cada|por',
    perAny: '(?!)',
    rated:
      'hora|día|noche|semana|mes|año|persona|cabeza|visita|unidad|paquete|pedido|llamada|sesión|niño|adulto|kilo|habitación|cliente',
    bounds: {
      least: [
        'al menos|como mínimo|por lo menos|un mínimo de|mínimo',
        'o más|o superior|o mayor|como mínimo|por lo menos|y mayores|o mayores|en adelante|mínimo',
      ],
      most: [
        'como máximo|como mucho|a lo sumo|un máximo de|máximo|no más de|hasta',
        'o menos|o inferior|o menor|como máximo|como mucho|a lo sumo|máximo|y menores|o menores',
      ],
      more: [
        '(?:supera|sobrepasa|excede)n? (?:los|las)|más de|mayores de|superior a|mayor de|por encima de',
        '',
      ],
      less: ['menos de|menores de|inferior a|menor de|por debajo de', ''],
    },
    range: String.raw`\s?[-–—]\s?| (?:al?|hasta(?: las?| el)?|a las?|y las?) `,
    between: ['entre (?:las? |el )?', ' y (?:las? |el )?'],
    or: ' o ',
    parts: { ' y ': 'unit', ' con ': 'any', ' ': 'unit' },
    ages: { '<18': 'menores de edad', '≥18': 'mayores de edad' },
    hyphened: '(?!)',
    below: '(?:antes de(?:l| las?| los)?|hasta(?: las?| el)?)',
    above:
      '(?:después de(?:l| las?| los)?|desde(?: las?| el)?|a partir de(?:l| las?| los)?|pasadas(?: las)?)',
    labels: 'extensión|ext\\.?|opción|habitación|despacho|piso',
    numbered:
      'terminal|salida|línea|autobús|bus|tren|andén|puerta|sala|planta|clínica|oficina|edificio|nivel|paso|zona|módulo|aula|ventanilla|mostrador|caja|mesa|carretera|autopista|ruta|vuelo|taquilla|sede|centro|grupo|consulta|box|tarifa|plan|formulario|apartado|número|núm\\.?|n\\.?º|tranvía|parada|fila|artículo|capítulo|página|parte|tienda|local',
    addresses: [
      String.raw`(?:[Cc]alle|[Aa]venida|[Aa]vda?\.|[Pp]laza|[Pp]aseo|[Cc]amino|[Cc]arretera|[Rr]onda|[Cc]\/)(?: (?:de|del|la|las|los|el))*(?: \p{Lu}[\p{L}'’]{1,20}(?: (?:de|del|la|las|los|y)){0,2}){1,4},? (?:n\.?º ?|número )?\d{1,4}`,
    ],
    dial: '(?:llam|marc|mand|escrib)\\p{L}{1,6}(?: al?)?(?: número| teléfono)?',
  },
  transfers: {
    verbs: [
      {
        verb: '(?:transfi(?:ér|r)[ae][sn]?|transferir|transferirá|desví[ae][sn]?|desviar|derív[ae][sn]?|derivar|redirí[gj][aei][sn]?|redirigir|escál[ae][sn]?|escalar|reenví[ae][sn]?|reenviar)(?:l[aeo]s?)?(?:l[aeo]s?)?',
        to: 'al?',
      },
      {
        verb: '(?:conéct[ae][sn]?|conectar|comuní(?:que|ca)[sn]?|comunicar|pón(?:er|ga|gas)?|pás[ae][sn]?|pasar)(?:l[aeo]s?|me|nos)?(?:l[aeo]s?)?(?: en contacto)?',
        to: 'con',
      },
      {
        verb: '(?:pas[ae]s?|pasar|dirij[ae]s?|dirige|dirigir|mand[ae]s?|mandar|enví[ae]s?|enviar|remit[ae]s?|remitir)',
        object:
          '(?:(?:la|las|el|los|al|a la|a los|a las|cada|toda|todas las|esta|estas|otras?|demás) ){0,2}(?:llamadas?|clientes?|pacientes?|personas?|comunicación|huésped(?:es)?|soci[oa]s?|urgencias?|emergencias?|quejas?|consultas?|reclamaciones|avisos?|casos?|preguntas?|periodistas?|proveedores|familiares|familias?|padres|vecin[oa]s?|alumn[oa]s?|usuari[oa]s?|interesad[oa]s?|prensa)',
        to: 'al?|con',
      },
      {
        verb: '(?<=(?:llamadas?|urgencias?|quejas?|consultas?|reclamaciones|preguntas?)(?: [^.,;:!?\\n]{1,40})? )van?',
        to: 'al?',
      },
      {
        verb: '(?:pás[ae]|pasar|mánd[ae]|enví[ae]|diríj[ae]|dirígel?|remít[ae])(?:me|te|se)?(?:l[aeo]s?)',
        to: 'al?|con',
      },
      { verb: 'remít[ae]s?(?= al? )', to: 'al?' },
    ],
    titles: 'dra?|sra?|srta|prof',
    manner: 'directamente|inmediatamente|enseguida|de inmediato',
    articles: 'la|las|el|los|una?|nuestr[oa]|su|un[oa] de (?:nuestr[oa]s|l[oa]s)',
    stops:
      'si|cuando|y|e|o|para|por|con|sin|en|a|al(?! (?:cliente|paciente|público|usuario|socio|huésped|viajero))|antes|después|inmediatamente|directamente|salvo|excepto|desde|hasta|que|ni|pero|sino|porque|mientras|siempre|solo|sólo|es|está|ahora|hoy|sobre',
    pronouns:
      'ella|el|ellos|ellas|ti|usted|alguien|quien|cliente|clientes|paciente|pacientes|persona|personas',
  },
  rules: {
    forbids:
      'bajo ninguna circunstancia|bajo ningún concepto|en ningún caso|en ningún momento|nunca|jamás|prohibid[oa]s?|no está permitido|no se permite|no (?:puedes?|podrás?|debes?|deberás?)|no(?! (?:te |se )?(?:olvid|dejes? de|dud))|tampoco',
    negates: 'nadie|ningún|ningun[oa]s?|nada|ni|imposible',
    echoes:
      'nunca|jamás|nadie|ningún|ningun[oa]s?|nada|tampoco|ni|en ningún caso|en ningún momento|bajo ninguna circunstancia|bajo ningún concepto',
    predicates: 'no|nunca|jamás|prohibid[oa]s?|no está permitido|no se permite',
    turns:
      'evit(?:a|e|es|ar)|niégu?[ae](?:te|se)|rechaz(?:a|ar)|rechace[s]?|abstente|absténgase|deniegu?[ae]|(?:alej|apart)\\p{L}{1,6} de(?!\\p{L}{2})|(?:mant\\p{L}{1,8}|qued\\p{L}{1,6}) (?:lejos|alejad[oa]s?) de(?!\\p{L}{2})',
    demands:
      'siempre(?! que)|en todo momento|en todos los casos|sin excepción|obligatorio|obligatoriamente|sin falta',
    obliges:
      'no (?:te |se )?(?:olvid[ae][sn]?|olvidar|dejes? de)(?: de| que)?|(?:recuerd[ae]|acuérdate de|acuérdese de)(?= (?:que )?(?:\\p{L}+[aei]r(?:l[aeo]s?|se)?)(?!\\p{L}))|deb(?:e|es|en|erá|erás)|t(?:ienes?|enga[s]?) que|hay que|es (?:importante|imprescindible|fundamental)|asegúr[ae](?:te|se)(?: de)?|es necesario|necesariamente',
    permits:
      'puedes|podrás|(?<=(?:^|[.;:!¡]\\s{1,3}|usted ))(?:puede|podrá)|se permite|está permitido|(?:estás|está) autorizad[oa]|siéntete libre|no dudes en|no dude en|opcional(?:mente)?|si (?:quieres|lo deseas|quiere)',
    softens: 'deberías?|preferiblemente|procur(?:a|e|ar)|intent(?:a|e|ar)',
    limits:
      'solo|sólo|solamente|únicamente|exclusivamente|y (?:(?:con|a|de|para|por) )?(?:nadie|nada) más',
    excepts:
      '(?:salvo|excepto)(?: (?:que|si|cuando))?|a menos que|a no ser que|menos(?= a| los| las| el)|exceptuando|con excepción de',
    without: 'sin',
    typed: 'nunca siempre salvo excepto',
    first: 'primero|hace falta|necesari[oa]s?|obligatori[oa]s?|imprescindible',
    agent:
      'tú|usted|debes|deberás|tienes|hay que|asegúr\\p{L}+|agentes?|asistente|es (?:importante|imprescindible|fundamental|necesario)',
    conditions:
      'si|cuando|en caso de|en cuanto|una vez que|siempre que|mientras|en (?:una |las )?(?:emergencias?|urgencias?)',
    subordinates: 'si|cuando|donde|porque|que|quien|quienes|qué|cuál|cómo|cuándo|dónde|mientras',
    reported:
      '(?:di|diga|dígal?|díl?|recuérd|avís|explíc|infórm|indic|indíqu|adviért|advert|insist|recomiénd|aconséj|píd|rueg|comunic|dec|asegúr)\\p{L}{0,6} (?:[^.,;:!?]{1,40} )?que(?: \\p{L}+){0,2} ',
    relatives: '(?:que|quienes)(?: \\p{L}+){2,8} ',
    breaks:
      'pero|sino|salvo|excepto|si|cuando|solo|sólo|siempre|hasta|antes|después|porque|así que|y (?:luego|después|siempre|nunca)',
    earlier: 'antes de(?:l| que)?',
    nextStep: 'luego(?! de)|después(?! de)|a continuación|por último|en (?:segundo|último) lugar',
    later: 'después de(?:l| que)?|tras|una vez|luego de',
    before: 'antes de|antes de que|hasta que|hasta',
    after: 'después de|después de que|tras|una vez|luego de',
    and: 'y|e',
    or: 'o|u',
    must: '(?<!no )(?:deben?|debes|deberán?|t(?:iene|ienen|ienes) que|hay que)',
    may: '(?<!no )(?:puede[ns]?|podrán?|podrás)',
    unless: 'a menos que|a no ser que|(?:salvo|excepto) (?:que|si|cuando)',
    reasons: 'porque|ya que|para que|puesto que|(?<=, )pues',
    comparisons:
      'no (?:cuestan?|valen?|tienen?) (?:nada|(?:ningún )?(?:coste|costo|cargo))|no (?:más|menos) de|no solo|no sólo|no dud[ae]s?|con o sin|ya no(?= hace falta)',
  },
  meaning: {
    function:
      'el la los las lo un una unos unas y e o u que de del al a en con por para sobre desde hasta entre su sus tu tus mi se le les me te nos os es son era ser sea esta este esto estos estas estan estar esta ha han he hay si no ni pero sino como mas muy ya tambien asi cuando donde quien cual cuales cada todo toda todos todas algun alguna alguien algo cualquier cualquiera otro otra otros otras mismo misma eso ese esa esos esas aqui ahi solo solamente siempre nunca jamas antes despues luego entonces mientras sin salvo excepto puede puedes pueden podria poder debe debes deben deber favor vez caso casos momento forma manera ademas primero finalmente ahora enseguida inmediatamente cuyo segun ante bajo contra hacia tras unicamente qu quienes aunque siquiera tampoco ambos ambas sendos quiera cualesquiera todavia aun apenas siento lamento durante alrededor cerca encima debajo delante detras junto acerca mediante incluso casi quizas tal tan tanto poco mucho mucha muchos menos mejor peor bien mal propio demas cierto tipo dia dias haya hayan fue fueron sido siendo estado esten este sean sera seran va van ir',
    roles:
      'yo tu usted ustedes ti el ella ellos ellas nosotros cliente clientes paciente pacientes persona personas llamante llamantes usuario usuarios huesped huespedes socio socios asistente agente nadie gente quien interlocutor llamada llamadas llamar llame llama',
    isManner: (word) => /.{4}mente$/.test(word),
    light:
      'dar hacer tener dejar poner ir usar utilizar querer necesitar haber realizar efectuar tomar',
    phrases: {
      primero:
        '(?:termin|acab|finaliz|empiez|comienz|empiec|comienc|finalic)[ae]s?(?: la llamada| siempre)?(?= \\p{L}+ndo(?!\\p{L}))|(?:tu|su) (?:tarea|trabajo|función|labor) (?:es|consiste en)|te encargas de|se encarga de|no (?:te |se )?(?:olvid[ae][sn]?|dejes? de)(?: de| que)?|(?:recuerd[ae]|acuérdate de|acuérdese de)(?= (?:que )?(?:\\p{L}+[aei]r(?:l[aeo]s?|se)?)(?!\\p{L}))',
      alejar:
        'mant\\p{L}{1,6} (?:la |una |las )?distancias?(?: de seguridad)?|quéd\\p{L}{1,5} lejos',
      opinar: 'd(?:ar|é|es|a|en) (?:su|tu|una|la|ninguna) opinión|d(?:ar|é|es|a) opiniones',
      informar: 'haz(?:le|les)? saber|hág[ae](?:le|les)? saber',
      anotar: 'toma(?:r)? nota(?: de)?|tome(?:s)? nota(?: de)?',
      preguntar:
        'averigu(?:a|e|ar)|(?:comprueb[ae]|comprobar|mir[ae]|pregunt[ae]|preguntar|consult[ae])(?= (?:(?:con|en) \\S{1,40} )?si )',
      colgar: 'cuelg(?:a|ue|ues|uen)|finaliza(?:r)? la llamada',
      esperarlinea:
        '(?:espere|espera|esperen|permanezca|permanece|siga|sigue|quédese|quédate|manténgase|mantente)n? (?:a la espera |en (?:la )?línea|al teléfono)',
      disculpar: 'p[ei]d\\p{L}{1,3} (?:perdón|disculpas)|discúlp[ae](?:te|se)|disculparse',
      gratis:
        'no (?:cuestan?|valen?|tienen?) (?:nada|(?:ningún )?(?:coste|costo|cargo))|(?:son|es|sale|salen) gratis|sin (?:coste|costo|cargo)|gratuit[oa]s?',
      volverllamar:
        '(?:dev(?:olv|uelv)\\p{L}{1,6}) la llamada|(?:volv|vuelv)\\p{L}{1,6} a llamar\\p{L}{0,4}',
      nacimiento: 'fecha de nacimiento',
      correo: 'correo electrónico|e-?mail',
    },
    same: [
      'decir recordar informar indicar mencionar comunicar explicar facilitar proporcionar ofrecer compartir revelar contar anunciar describir',
      'preguntar pedir solicitar',
      'confirmar comprobar verificar revisar validar',
      'precio coste costo tarifa importe',
      'cita visita reserva turno',
      'reservar agendar programar concertar',
      'transferir pasar desviar derivar redirigir conectar',
      'terminar finalizar acabar concluir',
      'responder contestar',
      'anotar apuntar registrar escribir recoger guardar',
      'buscar localizar consultar mirar',
      'hablar comentar discutir opinar opinion conversar',
      'ayudar asistir',
      'saludar recibir',
      'avisar notificar alertar',
      'problema incidencia averia',
      'medico doctor',
      'costar valer',
      'coche auto vehiculo carro',
      'prometer garantizar asegurar',
      'medicamento medicina farmaco',
      'repetir releer',
      'factura recibo',
      'nino menor',
      'comenzar empezar iniciar',
      'devolver reembolsar',
      'cancelar anular',
      'cambiar modificar',
      'urgencia emergencia urgente',
      'enviar mandar remitir',
      'sugerir recomendar proponer aconsejar',
      'necesitar requerir',
      'llegar venir acudir',
      'aparecer figurar constar',
      'entrada acceso',
      'comprar adquirir',
      'reparar arreglar',
      'enfadar enojar molestar',
      'elegir escoger',
      'completo entero',
      'direccion domicilio',
      'movil celular',
      'adicional extra',
      'kilometraje kilometro',
      'permanecer quedar',
      'abonar pagar',
      'rapido veloz',
      'error equivocacion fallo',
      'piso apartamento vivienda',
      'ordenador computadora',
      'trabajador empleado companero colega',
      'abogado letrado',
      'alumno estudiante',
      'profesor maestro docente',
      'clase leccion',
      'queja reclamacion',
      'pregunta duda',
      'contrato acuerdo',
      'permiso consentimiento autorizacion',
      'descuento rebaja',
      'vale cupon bono',
      'total suma',
      'peligro riesgo',
      'rellenar completar cumplimentar',
      'tardar durar',
      'admitir aceptar',
      'dolor molestia',
      'escuchar oir',
      'exacto preciso',
      'adivinar suponer especular inventar',
      'juzgar valorar evaluar',
      'personal confidencial privado',
      'fuego incendio',
      'basura residuo',
      'coger atender',
      'detalle dato',
      'pelicula film',
      'paquete bulto',
      'mascota animal',
      'intentar probar',
      'preferir gustar',
      'caro costoso',
      'barato economico',
      'dificil complicado',
      'ocurrir suceder',
      'letrero cartel',
    ],
    opposites: {
      aceptar: 'rechazar denegar',
      permitir: 'prohibir',
      incluir: 'excluir omitir',
      quedar: 'salir abandonar evacuar',
      esperarlinea: 'colgar',
      abrir: 'cerrar',
      abierto: 'cerrado',
      confirmar: 'negar',
      encender: 'apagar',
      activar: 'desactivar',
      dentro: 'fuera',
      subir: 'bajar',
      aumentar: 'reducir',
      bloquear: 'desbloquear',
      acercar: 'alejar apartar',
    },
    irregular: IRREGULAR,
    stem,
    orders: ORDERED,
    isOrder: (word) => ORDERED.has(word) || ORDERED.has(word.replace(PRONOUNS, '')),
    notOrdered:
      'cuenta reserva consulta informe entrega espera ayuda marca pregunta pausa compra visita firma cobro pago envio oferta',
    states: 'es|son|está|están|cuestan?|duran?|abre|empieza|vale|tiene|tienen|se',
    adverbs:
      'por favor|siempre|nunca|jamás|luego|después|primero|finalmente|también|solo|sólo|además|entonces|no|ahora|en ningún caso|simplemente|al final|al principio|usted|debes|debe|puedes|puede|hay que',
    joined: 'y|e|o|pero|así que|luego',
    leads:
      'si|cuando|para|en|después|antes|al|durante|con|sin|desde|una vez|mientras|por|a|salvo|excepto|de|como|según|fuera|entre|los|las',
    styleVerbs: 'ser hablar sonar sonreir mantener estar mostrar',
    styleNouns:
      'tono voz frase frases oracion oraciones palabra palabras lenguaje respuesta respuestas tecnicismos',
    abbreviations:
      'dr|dra|sra?|srta|p\\. ?ej|tel|núm|n\\.?º|avda?|aprox|ext|[ap]\\. ?m|máx|mín|ud|uds|pág|art',
    steps: 'paso',
    styles:
      'breve breves pausado pausada lento lenta lentamente suave sereno serena educadamente respetuosamente cordialidad cercania empatico naturalidad neutral brevedad concisa concisas concisos corto corta cortos cortas despacio claro clara claros claramente claridad amable amablemente amabilidad cordial cordialmente calma calmado educado paciente paciencia empatia natural sencillo sencilla sencillas sencillos profesional alegre positivo formal respetuoso calido calida cercano cercana conciso simpatico tranquilo tranquila sonrie sonria',
  },
};
