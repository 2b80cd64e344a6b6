from safear.texts.catalogue import Texts as Texts
from safear.texts.catalogue import load_texts as load_texts
from safear.texts.language_files import languages as languages
