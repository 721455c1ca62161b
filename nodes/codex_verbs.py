"""What people do, as an English sentence tells it after a name: patterns."""

_LIFELESS = (
    "died|killed|buried|drowned|hanged|murdered|passed|vanished|disappeared|looked|seemed|appeared|remained|rested|stared|"
    "floated|"
    "drifted|rotted|smelled|belonged|mattered|haunted|owned|lived|loved|hated|used|wanted|needed|deserved|called|named|covered|"
    "wrapped|dressed|stretched|resembled|failed|existed|ended|turned|feared|followed|wished|intended|promised|inherited|"
    "slumped|sprawled|weighed|stiffened|dangled|stayed|sagged|lolled|swayed|collapsed|occupied|"
    "received|suffered|tended|indeed|supposed|expected|proved|engaged|married|related|attended|surrounded|reduced|"
    "bled|perished|succumbed|expired|shot|stabbed|strangled|poisoned|beheaded|executed|cremated|interred|mourned|missed|"
    "owed|accused|arrested|convicted|condemned|forgotten|remembered|renamed|possessed|required|lacked|bequeathed|dreaded|"
    "concerned|represented|reminded|counted|aged|born"
)
"""What is also said of the dead, or of the living as of another time."""
IRREGULAR = (
    r"(?:ate|beat|began|bent|bet|bit|blew|bought|broke|brought|built|burst|came|caught|chose|clung|crept|cut|dealt|"
    r"did|drank|drew|drove|dug|dwelt|fed|fought|fled|flew|flung|forbade|forgave|froze|gave|got|ground|held|hid|hit|"
    r"hung|hurt|knelt|laid|leant|leapt|learnt|led|lent|let|lit|made|met|mowed|paid|put|quit|ran|rang|read|rode|rose|"
    r"sang|sat|said|saw|sent|set|shone|shook|shut|slept|slid|slit|slung|sold|sought|spent|spat|split|spoke|spread|"
    r"sprang|spun|stood|stole|strode|strove|struck|stuck|stung|swam|swept|swore|swung|taught|thought|threw|thrust|"
    r"told|took|tore|trod|understood|went|wept|woke|won|wore|wound|wove|wrote|wrung)"
)
_LASTS = (
    r"(?:is|was|has|does|lies|seems|rests|remains|belongs|means|owns|dies|rots|haunts|looks|weighs|as|his|this|its|us|"
    r"thus|perhaps|always|sometimes|besides|knows|loves|hates|likes|needs|wants|fears|deserves|lives|stays|floats|"
    r"sleeps|vanishes|disappears|plus|versus|towards|afterwards|across|less|yes)"
)
ACTS = (
    rf"(?:\w+ly |only |just |then |still |also |now |both )?(?:{IRREGULAR}(?<!hung)|hung (?!from|in|by|there|dead)|"
    r"passed (?:him|her|them|(?:round|around) the|the [a-z]+(?=[.,;!?]|$| (?:to|round|around|across|over|along)\b))|"
    r"turned (?:to|round|around|away|the)|looked (?:up|at|down|round|over|across|into|out)|"
    r"(?:is|was) (?:still |already |now |just |\w+ly )?(?!(?:missing|lying|hanging|rotting|dying|going|floating|being|living|"
    r"decomposing|bleeding|wearing|nothing|something|anything|everything|lacking|losing|sinking|suffering|fading|failing)\b)"
    r"[a-z]{2,}ing|"
    rf"(?!{_LASTS}\b)[a-z]{{2,}}[a-rt-z]s|crosses|tosses|passes|presses|kisses|guesses|dresses|"
    rf"(?!(?:{_LIFELESS})\b)[a-z]{{2,}}(?<!e)ed)\b"
)
"""What only the living do, after a name."""

SPEAKS = (
    r"(?:said|says|asked|asks|whispered|whispers|replied|replies|answered|answers|called|calls|shouted|muttered|cried|told|"
    r"tells)"
)
"""What somebody does who says something."""

PLACE_LEFT = r"(?P<place>(?:the )?[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,2})"
"""What somebody leaves that has a name."""
