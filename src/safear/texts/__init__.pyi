from safear.texts.catalogue import Texts as Texts
from safear.texts.catalogue import languages as languages
from safear.texts.catalogue import load_texts as load_texts
